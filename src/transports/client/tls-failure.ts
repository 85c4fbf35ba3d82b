/** Why a connection over TLS failed, and what to do; undefined if the code is not one of TLS. */
export function tlsFailure(code: string): string | undefined {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired.';
    case 'CERT_NOT_YET_VALID':
      return 'its certificate is not valid yet. Is the clock of this computer right?';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'its certificate is for another host name.';
    case 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED':
      return "it requires a certificate of the client. Pass the client's own as the options `cert` and `key` (on Node).";
  }
  if (/SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY)/.test(code))
    return "its certificate is not signed by an authority that is trusted here. If you trust it, pass the authority's certificate as the option `ca` (on Node).";
  if (code.includes('_ALERT_')) return `it refused the connection (${code}). Check \`cert\` and \`key\`.`;
  return /CERT|SIGNATURE/.test(code) ? 'its certificate is not trusted.' : undefined;
}

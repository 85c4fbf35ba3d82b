export interface Mail {
  readonly to: string;
  readonly text: string;
}

/** A mail service that accepts a key with each mail, and sends only one mail for each key. */
export const mail = {
  sent: new Map<string, Mail>(),
  calls: 0,

  async send(to: string, text: string, key: string): Promise<{ key: string }> {
    mail.calls++;
    if (!mail.sent.has(key)) mail.sent.set(key, { to, text });
    return { key };
  },
};

// The media types of a skill's files, by the ending of the name.

const types: Readonly<Record<string, string>> = {
  ...{ md: 'text/markdown', txt: 'text/plain', csv: 'text/csv', html: 'text/html', css: 'text/css' },
  ...{ json: 'application/json', yaml: 'application/yaml', yml: 'application/yaml', xml: 'application/xml' },
  ...{ toml: 'application/toml', js: 'text/javascript', mjs: 'text/javascript', ts: 'text/x-typescript' },
  ...{ py: 'text/x-python', sh: 'text/x-shellscript', sql: 'application/sql', svg: 'image/svg+xml' },
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' },
  ...{ pdf: 'application/pdf', zip: 'application/zip', wasm: 'application/wasm' },
};

/** The media type of a file. */
export function mediaType(path: string, isText: boolean): string {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(types, ending) ? types[ending] : undefined;
  return known ?? (isText ? 'text/plain' : 'application/octet-stream');
}

/** The type without its parameters, in lower case. */
export function mediaType({ headers }: Response): string {
  return (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Reads a whole body, or gives `undefined` where it is larger than `maxBytes`: the rest is then not read. */
export async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  const length = response.headers.get('content-length');
  if (length !== null && Number(length) > maxBytes) {
    await cancel(response.body);
    return undefined;
  }
  // The length is that of what was sent. Whether that was compressed is not shown across origins.
  const plain = response.type !== 'cors' && !response.headers.has('content-encoding');
  if (response.body === null || (length !== null && plain)) return response.text();
  return readCounted(response.body, maxBytes);
}

async function readCounted(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const chunks = body.getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await chunks.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await cancel(chunks);
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Lets go of a body that nobody reads. A short one is taken in, so that its connection can be used again. */
export async function discard(response: Response): Promise<void> {
  const short = Number(response.headers.get('content-length') ?? Number.NaN) <= 16_384;
  await (short ? response.text().catch(() => {}) : cancel(response.body));
}

/** Ends a body or its reader. One that has ended, or broken, already is fine. */
export async function cancel(body: Pick<ReadableStream, 'cancel'> | null): Promise<void> {
  await body?.cancel().catch(() => {});
}

// Uses the protocol of body-thread.ts, but never answers a body that begins with "e", and exits at one that begins
// with "x".
declare const self: {
  onmessage: (event: { data: { id: number; bytes: Uint8Array } }) => void
  postMessage(reply: object): void
}

self.onmessage = ({ data: { id, bytes } }) => {
  const how = String.fromCharCode(bytes[0]!)
  while (how === "e");
  if (how === "x") process.exit(1)
  self.postMessage({ id, failure: { outcome: "changed", message: `it began with ${how}` } })
}
self.postMessage({})

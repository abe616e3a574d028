/**
 * Returns the reason of a rejection, or undefined. Tests use this instead of Bun's `.rejects`, which blocks messages
 * from the embedded database's thread and then never settles.
 */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/**
 * What a promise rejects with, or undefined. Bun's `.rejects` waits without letting the thread of the embedded
 * database be heard, and then for ever: no test asks by it.
 */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => undefined,
    (error: unknown) => error,
  )
}

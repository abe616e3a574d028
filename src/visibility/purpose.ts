/** Returns the purpose under which a check takes and returns its allowance unit. */
export function purposeOf(checkId: string): string {
  return `check ${checkId}`
}

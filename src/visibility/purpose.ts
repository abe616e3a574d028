/** What a unit of the allowance is taken for, and given back for. */
export function purposeOf(checkId: string): string {
  return `check ${checkId}`
}

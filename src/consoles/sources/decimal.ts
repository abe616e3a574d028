/** No amount that consoles print has more decimals. */
const PLACES = 6

/** The exact sum of decimal texts: "0.10" + "0.20" = "0.30". Has at least two decimals if there are any. */
export function decimalSum(amounts: readonly string[]): string {
  return decimal(amounts.reduce((sum, amount) => sum + millionths(amount), 0n))
}

/** Example: "-1.5" → -1500000n. Cuts off digits after the sixth decimal. */
export function millionths(amount: string): bigint {
  const [, sign, whole = "0", part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? []
  const value = BigInt(whole + part.slice(0, PLACES).padEnd(PLACES, "0"))
  return sign === "-" ? -value : value
}

/** Example: -1500000n → "-1.50" */
export function decimal(sum: bigint): string {
  const digits = (sum < 0n ? -sum : sum).toString().padStart(PLACES + 1, "0")
  const part = digits.slice(-PLACES).replace(/0+$/, "")
  const whole = `${sum < 0n ? "-" : ""}${digits.slice(0, -PLACES)}`
  return part === "" ? whole : `${whole}.${part.padEnd(2, "0")}`
}

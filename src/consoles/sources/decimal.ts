/** Number of decimals that are kept. No amount that consoles print has more. */
const PLACES = 6

/** Returns the exact sum of decimal texts: "0.10" + "0.20" = "0.30". If the sum has decimals, it has at least two. */
export function decimalSum(amounts: readonly string[]): string {
  return decimal(amounts.reduce((sum, amount) => sum + millionths(amount), 0n))
}

/** Converts a decimal text to millionths, such as "-1.5" to -1500000n. Digits after the sixth decimal are cut off. */
export function millionths(amount: string): bigint {
  const [, sign, whole = "0", part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? []
  const value = BigInt(whole + part.slice(0, PLACES).padEnd(PLACES, "0"))
  return sign === "-" ? -value : value
}

/** Converts millionths to a decimal text, such as -1500000n to "-1.50". */
export function decimal(sum: bigint): string {
  const digits = (sum < 0n ? -sum : sum).toString().padStart(PLACES + 1, "0")
  const part = digits.slice(-PLACES).replace(/0+$/, "")
  const whole = `${sum < 0n ? "-" : ""}${digits.slice(0, -PLACES)}`
  return part === "" ? whole : `${whole}.${part.padEnd(2, "0")}`
}

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"

const FOLDER = join(import.meta.dirname, "../../../fixtures/upstream/play-console")

/** The recorded files, by file name. */
export function recordedFiles(): { name: string; text: string }[] {
  const paths = [...new Glob("**/*.csv").scanSync(FOLDER)].sort()
  return paths.map((path) => {
    const name = path.replace("earnings/PlayApps_201911.csv", "earnings/earnings_201911_971902757587-81.zip")
    return { name, text: readFileSync(join(FOLDER, path), "utf8") }
  })
}

/** Returns the lines of a file as cells by title. Splits at commas outside quotes, without the product's own reader. */
export function rawLines(text: string): Record<string, string>[] {
  const [head, ...lines] = text.trimEnd().split("\n")
  const cells = (line: string) =>
    line.match(/("[^"]*"|[^,]*)(,|$)/g)!.map((cell) => cell.replace(/,$/, "").replaceAll('"', ""))
  const titles = cells(head!)
  return lines.map((line) => Object.fromEntries(cells(line).map((cell, place) => [titles[place], cell])))
}

/** Returns a decimal text as an exact number of hundredths: "-1.5" is -150n. */
export function hundredths(amount: string): bigint {
  const [whole = "", part = ""] = amount.replace("-", "").split(".")
  const size = BigInt(whole + part.padEnd(2, "0").slice(0, 2))
  return amount.startsWith("-") ? -size : size
}

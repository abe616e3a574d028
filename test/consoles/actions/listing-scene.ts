import type { ConsoleShelf } from "../console-shelf.ts"

/** A live version and one in preparation. English texts are in both, German texts only in the version. */
export function stockShelf(shelf: ConsoleShelf): void {
  const texts = { description: "Counts minutes.", keywords: "tea,timer", promotionalText: null, whatsNew: "Fixes." }
  shelf.versions.push(
    { id: "v1", attributes: { appVersionState: "READY_FOR_DISTRIBUTION", versionString: "1.0" }, texts: [] },
    {
      id: "v2",
      attributes: { appVersionState: "PREPARE_FOR_SUBMISSION", versionString: "1.1" },
      texts: [
        { id: "v2-en", attributes: { locale: "en-US", ...texts } },
        { id: "v2-de", attributes: { locale: "de-DE", ...texts } },
      ],
    },
  )
  shelf.infos.push(
    { id: "i1", attributes: { state: "READY_FOR_DISTRIBUTION" }, texts: [] },
    {
      id: "i2",
      attributes: { state: "PREPARE_FOR_SUBMISSION" },
      texts: [{ id: "i2-en", attributes: { locale: "en-US", name: "Tea Timer", subtitle: "Minutes" } }],
    },
  )
}

/** Returns the texts of both editable halves in a locale. */
export function textsAt({ infos, versions }: ConsoleShelf, locale = "en-US"): Record<string, unknown> {
  const localeTexts = [infos[1]!, versions[1]!].flatMap(({ texts }) =>
    texts.filter((text) => text.attributes.locale === locale),
  )
  return Object.assign({}, ...localeTexts.map(({ attributes }) => attributes))
}

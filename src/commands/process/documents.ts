import { actions } from "../../catalog.ts"
import type { Operation } from "../../core/operation.ts"
import { readTree, versionOf } from "../../database/assets.ts"
import { ERRORS_POLICY, errorsPage } from "../../docs/errors.ts"
import { llmsText } from "../../docs/llms.ts"
import { MANUAL_FOLDER, MANUAL_POLICY, manualAddresses, manualPage, manualTexts } from "../../docs/manual.ts"
import { REFERENCE_POLICY, referencePages } from "../../docs/reference.ts"
import { documentSearch } from "../../docs/search.ts"
import { MAX_QUERY } from "../../docs/search-box.ts"
import { searchPage } from "../../docs/search-page.ts"
import { OPEN_API } from "../../http/incoming.ts"
import type { PublicDocument } from "../../http/keyless.ts"
import { faultsOf, raisedFaults } from "../../http/openapi/responses.ts"
import { yamlOf } from "../../http/openapi/yaml.ts"
import { openApiDocument } from "../../http/openapi.ts"
import type { Sandbox } from "../../http/sandbox.ts"
import { SERVER_CARD_PATHS, serverCard } from "../../http/tools/server-card.ts"
import { once, prepare } from "../../lib/prepared.ts"
import { ICON_SVG } from "../../ui/style.ts"

/** The query for the OpenAPI document without examples. */
const PLAIN = "?examples=no"

/** Creates each document at its first request: all of them together take longer than the rest of a start. */
export function documentsOf(
  catalog: readonly Operation[],
  sandbox: Sandbox,
  publicUrl: string,
): Map<string, (query: string) => PublicDocument> {
  const html = (text: string, policy: string): PublicDocument => ({ ...prepare(text), type: "html", policy })
  const reference = referencePages(catalog, { publicUrl, samples: sandbox.samples, actions, faultsOf })
  const parts = { publicUrl, sandbox, version: versionOf() }
  const document = once(() => openApiDocument(catalog, parts))
  const plainDocument = once(() => openApiDocument(catalog, { ...parts, examples: false }))
  const guide = once(() => ({ ...prepare(llmsText(catalog, { publicUrl, actions })), type: "text" as const }))
  const card = once(
    (): PublicDocument => ({ ...prepare(JSON.stringify(serverCard(catalog, publicUrl))), type: "json" }),
  )
  const manual = once(() => manualTexts({ files: readTree(MANUAL_FOLDER, ".md"), catalog, actions }))
  const search = once(() => documentSearch({ catalog, actions, manual: manual() }))
  const matchesOf = (query: string) => {
    const text = (new URLSearchParams(query).get("q") ?? "").trim().slice(0, MAX_QUERY).toWellFormed()
    return { text, matches: search()(text) }
  }
  return new Map<string, (query: string) => PublicDocument>([
    ...Object.entries({ "": document, [PLAIN]: plainDocument }).flatMap(
      ([query, made]): [string, () => PublicDocument][] => [
        [`${OPEN_API.json}${query}`, once(() => ({ ...prepare(JSON.stringify(made())), type: "json" }))],
        [`${OPEN_API.yaml}${query}`, once(() => ({ ...prepare(yamlOf(made()).trimStart()), type: "yaml" }))],
      ],
    ),
    ...SERVER_CARD_PATHS.map((path): [string, () => PublicDocument] => [path, card]),
    ...[...reference].map(([address, page]): [string, () => PublicDocument] => [
      address,
      once(() => html(page(), REFERENCE_POLICY)),
    ]),
    [
      "/docs/search",
      (query) => {
        const { text, matches } = matchesOf(query)
        return html(searchPage(text, matches), REFERENCE_POLICY)
      },
    ],
    [
      "/docs/search.json",
      (query) => ({ ...prepare(JSON.stringify({ matches: matchesOf(query).matches })), type: "json" }),
    ],
    ["/docs/errors", once(() => html(errorsPage(raisedFaults(catalog)), ERRORS_POLICY))],
    ["/favicon.ico", once(() => ({ ...prepare(ICON_SVG), type: "svg" }))],
    ["/llms.txt", guide],
    ["/docs/llms.txt", guide],
    ...manualAddresses().flatMap(({ page, address }): [string, () => PublicDocument][] => [
      [address, once(() => html(manualPage(manual(), page), MANUAL_POLICY))],
      [`${address}.md`, once(() => ({ ...prepare(manual().get(page) as string), type: "text" }))],
    ]),
  ])
}

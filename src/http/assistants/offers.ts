import type { Operation } from "../../core/operation.ts"
import { once } from "../../lib/prepared.ts"
import { getApp, listApps } from "../../overview/operations/apps.ts"
import type { AppShape } from "../../tracking/shapes.ts"
import type { Candidate, Completion, Offers } from "../tools/offers.ts"
import { guideText } from "./guide.ts"
import { prompts } from "./prompts.ts"

/** Returns the prompts and resources offered to assistants in addition to the tools of a catalog. */
export function offersOf(catalog: readonly Operation[]): Offers {
  return {
    prompts,
    documents: [
      {
        uri: "appmeter://guide",
        name: "guide",
        title: "How to work with Appmeter",
        description: "Every tool in one line, the three states of a figure, writes and credits.",
        mimeType: "text/markdown",
        text: once(() => guideText(catalog)),
      },
    ],
    record: {
      prefix: "appmeter://apps/",
      variable: "appId",
      name: "app",
      title: "A tracked app",
      description: "The app with its keywords and latest measurement, as in get_app.",
      toolset: "apps",
      read: getApp,
      list: { operation: unpriced, of: (answer) => appsIn(answer).map(({ id, name }) => ({ id, title: name })) },
    },
    completions: {
      appId: completion((apps) => apps.map(({ id, name }) => ({ value: id, also: name }))),
      country: completion((apps) => unique(apps.flatMap(({ countries }) => countries))),
      term: completion((apps, { country }) =>
        unique(apps.flatMap(({ keywords, keywordsByCountry }) => keywordsByCountry[country ?? ""] ?? keywords)),
      ),
    },
  }
}

/** Completion and resource lists are free, because the user has not requested anything yet. */
const unpriced: Operation = { ...listApps, price: 0 }

/** Completes from the apps that the caller may see, or from the chosen app only. */
function completion(of: (apps: AppShape[], given: Readonly<Record<string, string>>) => Candidate[]): Completion {
  return {
    operation: unpriced,
    input: () => ({}),
    of: (answer, given) =>
      of(
        appsIn(answer).filter(({ id }) => !given.appId || id === given.appId),
        given,
      ),
  }
}

function appsIn(answer: unknown): AppShape[] {
  return (answer as { apps: AppShape[] }).apps
}

function unique(values: string[]): Candidate[] {
  return [...new Set(values)].map((value) => ({ value }))
}

import { isStoreId } from "../../lib/store-ids.ts"
import { attempted, isFault, type PageContext } from "./context.ts"

/** The name and icon of an app of a store. Null if unknown. */
export interface Face {
  name: string | null
  icon: string | null
}

/** Returns the code of a store app in forms and operations: "ios:" or "android:" and its store id. */
export function storeAppCode(storeId: string): string {
  return `${isStoreId("ios", storeId) ? "ios" : "android"}:${storeId}`
}

/** Returns names and icons of store apps by code. Apps that were never read and apps of the sample are missing. */
export async function readFaces(
  context: PageContext,
  codes: readonly string[],
  country: string,
): Promise<ReadonlyMap<string, Face>> {
  if (context.isSample || codes.length === 0) return new Map()
  const answer = await attempted(context.ask("list_store_faces", { apps: [...new Set(codes)].slice(0, MAX), country }))
  return new Map(isFault(answer) ? [] : answer.faces.map(({ app, ...face }) => [app, face]))
}

/** Maximum number of apps per call of list_store_faces. */
const MAX = 500

// Older tests import from here; new ones import from test/world/stores.ts.
export { answersLookUps, answersSearches, type LiveStores, liveStores } from "../world/stores.ts"

import { ownValue } from "./objects.ts"
import { ALL_APPS } from "./storefronts.ts"

/** Returns the English name of a genre of the App Store, for use where the storefront's own name was not read. */
export function genreName(id: string): string {
  return ownValue(NAMES, id) ?? `Category ${id}`
}

const NAMES: Readonly<Record<string, string>> = {
  [ALL_APPS]: "All apps",
  "6000": "Business",
  "6001": "Weather",
  "6002": "Utilities",
  "6003": "Travel",
  "6004": "Sports",
  "6005": "Social networking",
  "6006": "Reference",
  "6007": "Productivity",
  "6008": "Photo & video",
  "6009": "News",
  "6010": "Navigation",
  "6011": "Music",
  "6012": "Lifestyle",
  "6013": "Health & fitness",
  "6014": "Games",
  "6015": "Finance",
  "6016": "Entertainment",
  "6017": "Education",
  "6018": "Books",
  "6020": "Medical",
  "6021": "Magazines & newspapers",
  "6022": "Catalogs",
  "6023": "Food & drink",
  "6024": "Shopping",
  "6025": "Stickers",
  "6026": "Developer tools",
  "6027": "Graphics & design",
}

import { join } from "node:path"
import type { Log } from "../../lib/log.ts"
import type { Settings } from "../../settings/settings.ts"
import { createPictureCache, type PictureCache } from "../../stores/pictures/picture-cache.ts"
import { guardedFetch } from "./guarded-fetch.ts"

/**
 * The cache of icons and screenshots. Undefined unless it is switched on, because it sends requests to the stores'
 * hosts.
 */
export function openPictureCache(settings: Settings, log: Log): PictureCache | undefined {
  const { picturesMb, measuring, allowPrivateTargets } = settings
  if (picturesMb === 0) return undefined
  return createPictureCache({
    folder: join(measuring.raw.folder, "pictures"),
    maxBytes: picturesMb * 1_000_000,
    fetch: guardedFetch(allowPrivateTargets),
    log,
  })
}

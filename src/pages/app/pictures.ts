import type { People } from "../../access/sign-in/person.ts"
import { sizedPicture } from "../../stores/pictures/picture-address.ts"
import type { PictureCache } from "../../stores/pictures/picture-cache.ts"
import type { PageAnswer } from "../../ui/answer.ts"
import { address } from "../../ui/app/context.ts"
import type { PageRoute } from "../../ui/routes.ts"

const PATH = "/app/picture"

/** Returns the address of a store's picture on this server. Null if it is of another host. */
export function picturePath(store: string, width: number): string | null {
  const sized = sizedPicture(store, width)
  return sized && address(PATH, { of: sized })
}

interface PictureParts {
  people: People
  pictures: PictureCache
}

/**
 * Pictures of the stores for signed-in people. The type is that of the bytes, and the policy lets the response do
 * nothing, also if it is opened as a page.
 */
export function pictureRoute({ people, pictures }: PictureParts): PageRoute {
  return {
    path: PATH,
    methods: ["GET", "HEAD"],
    async open(visit): Promise<PageAnswer> {
      if (!(await people.personOf(visit))) return { status: 401, body: null }
      const picture = await pictures.read(new URLSearchParams(visit.query).get("of") ?? "")
      if (!picture) return { status: 404, body: null }
      const { type, bytes } = picture
      return { status: 200, headers: { ...HEADERS, "content-type": type }, body: bytes }
    },
  }
}

/** The address names the picture's content, so that browsers need not ask again. */
const HEADERS = {
  "cache-control": "private, max-age=604800, immutable",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
}

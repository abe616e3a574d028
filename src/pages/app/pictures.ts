import type { People } from "../../access/sign-in/person.ts"
import { sizedPicture } from "../../stores/pictures/picture-address.ts"
import type { PictureCache } from "../../stores/pictures/picture-cache.ts"
import type { PageAnswer } from "../../ui/answer.ts"
import { address } from "../../ui/app/context.ts"
import type { PageRoute } from "../../ui/routes.ts"

const PATH = "/app/picture"

/** Returns the address of a store's picture on this server. Null if the picture is on another host. */
export function picturePath(store: string, width: number): string | null {
  const sized = sizedPicture(store, width)
  return sized && address(PATH, { of: sized })
}

interface PictureParts {
  people: People
  pictures: PictureCache
}

/**
 * Serves pictures of the stores to signed-in people. The content type is derived from the bytes. The content security
 * policy forbids everything, in case somebody opens the response as a page.
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

/** The address is derived from the picture's content, so browsers may cache it. */
const HEADERS = {
  "cache-control": "private, max-age=604800, immutable",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
}

// The thread that parses large bodies: 8 MB take up to half a second, which would block all requests.
import { KINDS } from "../../kinds.ts"
import { answerBodies, type ThreadPort } from "../../measuring/parsing/body-thread.ts"
import { SOURCES, sourcesIn, TEXT_PARSERS } from "../../sources.ts"

declare const self: ThreadPort

answerBodies(self, { kinds: KINDS, sources: sourcesIn(SOURCES), texts: TEXT_PARSERS })

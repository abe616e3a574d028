// Older tests import from here; new ones import from app.ts.
export { trackOwn } from "./app.ts"

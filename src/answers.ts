// Types only: the answers and inputs of every operation by its id, for pages and commands.
import type { CatalogOperation } from "./catalog.ts"
import type { PageOperation } from "./pages/app/operations.ts"

type KnownOperation = CatalogOperation | PageOperation

export type OperationId = KnownOperation["id"]

type TypesOf<Id extends OperationId> = NonNullable<Extract<KnownOperation, { id: Id }>["types"]>

/** The answer of an operation as the caller gets it: `AnswerOf<"list_rivals">`. */
export type AnswerOf<Id extends OperationId> = TypesOf<Id>["answer"]

/** The names of an operation's inputs. Values are checked when it runs. */
export type InputOf<Id extends OperationId> = { [Name in keyof TypesOf<Id>["input"]]?: unknown }

import postgres from "postgres"

/** Creates an empty database on the server of DATABASE_URL. The database is dropped at the end of `await using`. */
export async function scratchDatabase(
  purpose: string,
): Promise<AsyncDisposable & { url: string; admin: postgres.Sql }> {
  const server = process.env.DATABASE_URL
  if (!server) throw new Error("needs DATABASE_URL")
  const name = `appmeter_test_${process.pid}_${purpose}`
  const admin = postgres(server, { max: 1, onnotice: () => {} })
  await admin`drop database if exists ${admin(name)} with (force)`
  await admin`create database ${admin(name)}`
  const url = new URL(server)
  url.pathname = `/${name}`
  const drop = async () => {
    await admin`drop database if exists ${admin(name)} with (force)`
    await admin.end()
  }
  return { url: url.href, admin, [Symbol.asyncDispose]: drop }
}

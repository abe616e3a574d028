/** Software and data in a release that have no npm package of their own. */
export interface Component {
  name: string
  /** SPDX id. */
  licence: string
  copyright: string
  website: string
  /** The container of the component: an npm package, or "bun" for the runtime of the binary. */
  within: string
}

const component = (within: string, name: string, licence: string, copyright: string, website: string): Component => ({
  name,
  licence,
  copyright,
  website,
  within,
})

const PGLITE = "@electric-sql/pglite"
const TESSERACT = "tesseract.js-core"

export const COMPONENTS: readonly Component[] = [
  component(
    PGLITE,
    "PostgreSQL",
    "PostgreSQL",
    "1996-2026, The PostgreSQL Global Development Group; 1994, The Regents of the University of California",
    "https://www.postgresql.org",
  ),
  component(PGLITE, "ICU", "Unicode-3.0", "1991-2026 Unicode, Inc.", "https://icu.unicode.org"),
  component(PGLITE, "musl", "MIT", "2005-2020 Rich Felker, et al.", "https://musl.libc.org"),
  component(PGLITE, "Emscripten", "MIT", "2010-2026 Emscripten authors", "https://emscripten.org"),
  component(
    TESSERACT,
    "Tesseract",
    "Apache-2.0",
    "2006-2026 Google Inc. and others",
    "https://github.com/tesseract-ocr",
  ),
  component(TESSERACT, "Leptonica", "BSD-2-Clause", "2001-2026 Leptonica", "https://www.leptonica.org"),
  component(
    TESSERACT,
    "libtiff",
    "libtiff",
    "1988-1997 Sam Leffler; 1991-1997 Silicon Graphics, Inc.",
    "https://libtiff.gitlab.io/libtiff",
  ),
  component(TESSERACT, "libpng", "libpng-2.0", "1995-2026 The PNG Reference Library Authors", "https://www.libpng.org"),
  component(TESSERACT, "libjpeg", "IJG", "1991-2026 Thomas G. Lane, Guido Vollbeding", "https://ijg.org"),
  component(TESSERACT, "libwebp", "BSD-3-Clause", "2010 Google Inc.", "https://developers.google.com/speed/webp"),
  component(TESSERACT, "giflib", "MIT", "1997 Eric S. Raymond", "https://giflib.sourceforge.net"),
  component(TESSERACT, "zlib", "Zlib", "1995-2026 Jean-loup Gailly and Mark Adler", "https://zlib.net"),
  component(TESSERACT, "openlibm", "MIT", "2011-2026 the openlibm authors", "https://openlibm.org"),
  component(TESSERACT, "musl", "MIT", "2005-2020 Rich Felker, et al.", "https://musl.libc.org"),
  component(TESSERACT, "Emscripten", "MIT", "2010-2026 Emscripten authors", "https://emscripten.org"),
  component(
    "@tesseract.js-data/eng",
    "tessdata (trained data of English)",
    "Apache-2.0",
    "Google Inc. and others",
    "https://github.com/tesseract-ocr/tessdata_best",
  ),
  component("tldts", "Public Suffix List", "MPL-2.0", "Mozilla Foundation and others", "https://publicsuffix.org"),
  component("bun", "Bun", "MIT", "2021-2026 Oven and others", "https://bun.com"),
  component(
    "bun",
    "JavaScriptCore and WebKit (https://github.com/oven-sh/WebKit has the source of this version)",
    "LGPL-2.1-or-later",
    "1991-2026 Apple Inc. and others",
    "https://webkit.org",
  ),
  component(
    "bun",
    "BoringSSL",
    "Apache-2.0",
    "1998-2026 The OpenSSL Project and others",
    "https://boringssl.googlesource.com",
  ),
  component("bun", "brotli", "MIT", "2009-2026 the Brotli authors", "https://github.com/google/brotli"),
  component("bun", "libarchive", "BSD-2-Clause", "2003-2026 Tim Kientzle and others", "https://libarchive.org"),
  component("bun", "lol-html", "BSD-3-Clause", "2019 Cloudflare, Inc.", "https://github.com/cloudflare/lol-html"),
  component(
    "bun",
    "ls-hpack, ls-qpack, lsquic",
    "MIT",
    "2017-2026 LiteSpeed Technologies Inc",
    "https://github.com/litespeedtech",
  ),
  component(
    "bun",
    "mimalloc",
    "MIT",
    "2018-2026 Microsoft Corporation, Daan Leijen",
    "https://github.com/microsoft/mimalloc",
  ),
  component("bun", "picohttpparser", "MIT", "2009-2014 Kazuho Oku and others", "https://github.com/h2o/picohttpparser"),
  component("bun", "zstd", "BSD-3-Clause", "Meta Platforms, Inc. and affiliates", "https://github.com/facebook/zstd"),
  component("bun", "simdutf", "Apache-2.0", "2021-2026 The simdutf authors", "https://github.com/simdutf/simdutf"),
  component("bun", "tinycc", "LGPL-2.1-or-later", "2001-2026 Fabrice Bellard and others", "https://bellard.org/tcc"),
  component(
    "bun",
    "uSockets and uWebSockets",
    "Apache-2.0",
    "2018-2026 Alex Hultman",
    "https://github.com/uNetworking",
  ),
  component(
    "bun",
    "zlib-ng",
    "Zlib",
    "1995-2026 Jean-loup Gailly, Mark Adler and others",
    "https://github.com/zlib-ng/zlib-ng",
  ),
  component("bun", "c-ares", "MIT", "1998-2026 c-ares contributors", "https://c-ares.org"),
  component("bun", "ICU", "Unicode-3.0", "1991-2026 Unicode, Inc.", "https://icu.unicode.org"),
  component(
    "bun",
    "libbase64",
    "BSD-2-Clause",
    "2013-2026 Alfred Klomp and others",
    "https://github.com/aklomp/base64",
  ),
  component("bun", "libuv", "MIT", "2015-2026 libuv project contributors", "https://libuv.org"),
  component("bun", "libdeflate", "MIT", "2016-2026 Eric Biggers", "https://github.com/ebiggers/libdeflate"),
  component(
    "bun",
    "libjpeg-turbo",
    "BSD-3-Clause",
    "2009-2026 D. R. Commander and others",
    "https://libjpeg-turbo.org",
  ),
  component("bun", "libspng", "BSD-2-Clause", "2018-2026 Randy", "https://libspng.org"),
  component("bun", "libwebp", "BSD-3-Clause", "2010 Google Inc.", "https://developers.google.com/speed/webp"),
  component("bun", "highway", "Apache-2.0", "2019-2026 Google LLC", "https://github.com/google/highway"),
  component("bun", "uucode", "MIT", "2025-2026 Jacob Sandlund", "https://github.com/jacobsandlund/uucode"),
  component("bun", "TigerBeetle (parts of its IO)", "Apache-2.0", "TigerBeetle, Inc.", "https://tigerbeetle.com"),
  component("bun", "LLVM libc++abi (part)", "Apache-2.0", "2009-2026 LLVM contributors", "https://llvm.org"),
  component("bun", "esbuild (ported parts)", "MIT", "2020 Evan Wallace", "https://esbuild.github.io"),
  component(
    "bun",
    "acorn, assert, buffer, crypto-browserify and other polyfills of Node's modules",
    "MIT",
    "their authors",
    "https://bun.com/docs/project/license",
  ),
]

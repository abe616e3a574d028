import { createHash } from "node:crypto"
import { jws, TEST_CHAIN } from "./signed.ts"

// Certificates of one test root, made with openssl. The marks are Apple's object ids: 1.2.840.113635.100.6.11.1 in a
// leaf and 1.2.840.113635.100.6.2.1 in an intermediate. All leaves have the same key.
const ROOT =
  "MIIBJDCBywIUWgT3CVHnKX24Kdh+gwgMDzLwXZ8wCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJVGVzdCBSb290MCAXDTI2MTEzMDIw" +
  "MzgxMloYDzIxMjYxMTA2MjAzODEyWjAUMRIwEAYDVQQDDAlUZXN0IFJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ0cvLd" +
  "coGLmOOWkJDxMNPNgf9hhFGcJLYxqYCXNonxSyqp2ZIc8/FkObGRGsNhspmcw3QeOnqnJkMrxSAyaqz8MAoGCCqGSM49BAMCA0gA" +
  "MEUCIBJN1FH6gPp4I2+MFN/LhPTR1nl8i30b1Uwtl70AA5fEAiEAmPGgwvqqkITkKEUC+VT5Yq3/t+7fax3FtepmsMKx88I="
const BETWEEN =
  "MIIBmzCCAUGgAwIBAgIBAjAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlUZXN0IFJvb3QwIBcNMjYxMTMwMjAzODEyWhgPMjEyNjEx" +
  "MDYyMDM4MTJaMBcxFTATBgNVBAMMDFRlc3QgQmV0d2VlbjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCKq3YZN6/YaLboki/Ke" +
  "/PFhBW2HKgau7AJCf/viMmAc8muoZypnTTnUrikZjzxZVH1XA+DFUhara6NjcbU9sJOjfzB9MA8GA1UdEwEB/wQFMAMBAf8wEAYK" +
  "KoZIhvdjZAYCAQQCBQAwHQYDVR0OBBYEFGNbRytNyAFUYpnTrcrqTM6QiiZmMDkGA1UdIwQyMDChGKQWMBQxEjAQBgNVBAMMCVRl" +
  "c3QgUm9vdIIUWgT3CVHnKX24Kdh+gwgMDzLwXZ8wCgYIKoZIzj0EAwIDSAAwRQIhAPwzglqdfn+fVKrI3RXRvwxETPu8QnY5RpPY" +
  "zGM4CPPmAiB04dH3wcE7d23/i8uDWVMJ1ynKLF0x+2wf0aP8rf0loA=="
const UNMARKED_BETWEEN =
  "MIIBijCCAS+gAwIBAgIBAzAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlUZXN0IFJvb3QwIBcNMjYxMTMwMjAzODEyWhgPMjEyNjEx" +
  "MDYyMDM4MTJaMBcxFTATBgNVBAMMDFRlc3QgQmV0d2VlbjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCKq3YZN6/YaLboki/Ke" +
  "/PFhBW2HKgau7AJCf/viMmAc8muoZypnTTnUrikZjzxZVH1XA+DFUhara6NjcbU9sJOjbTBrMA8GA1UdEwEB/wQFMAMBAf8wHQYD" +
  "VR0OBBYEFGNbRytNyAFUYpnTrcrqTM6QiiZmMDkGA1UdIwQyMDChGKQWMBQxEjAQBgNVBAMMCVRlc3QgUm9vdIIUWgT3CVHnKX24" +
  "Kdh+gwgMDzLwXZ8wCgYIKoZIzj0EAwIDSQAwRgIhAMAoFqDCmqDnaKGGv5UV1XJqn4SsPsM0oQ7WMALmX3B1AiEAvC1VDjey2lEL" +
  "dRxwvf6XwrHGajpAaskhsBW8RHc69FI="
const LEAF =
  "MIIBcDCCARagAwIBAgIBBDAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxUZXN0IEJldHdlZW4wIBcNMjYxMTMwMjAzODEyWhgPMjEy" +
  "NjExMDYyMDM4MTJaMBQxEjAQBgNVBAMMCVRlc3QgTGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCnn9hgb+rUho9cCSqrS" +
  "nSRNlCqQKe6sOqD1EoPht83V+60O9o98QOt6l3YS/53NP448MfQQbOS5WBWuSXdhrXWjVDBSMBAGCiqGSIb3Y2QGCwEEAgUAMB0G" +
  "A1UdDgQWBBTdzipEKOeb+yGrktKr103/e5OvFTAfBgNVHSMEGDAWgBRjW0crTcgBVGKZ063K6kzOkIomZjAKBggqhkjOPQQDAgNI" +
  "ADBFAiBh3ybv6UQCp4HCaPO/H+NxGOZ/ljYkwTmucPlfnUgd1QIhANj+n8ueDXuW6BdzBiiJgg7pOvHDFGoPTaPTVQYowXjA"
const UNMARKED_LEAF =
  "MIIBajCCAQ+gAwIBAgIBBTAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxUZXN0IEJldHdlZW4wIBcNMjYxMTMwMjAzODEyWhgPMjEy" +
  "NjExMDYyMDM4MTJaMBQxEjAQBgNVBAMMCVRlc3QgTGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCnn9hgb+rUho9cCSqrS" +
  "nSRNlCqQKe6sOqD1EoPht83V+60O9o98QOt6l3YS/53NP448MfQQbOS5WBWuSXdhrXWjTTBLMAkGA1UdEwQCMAAwHQYDVR0OBBYE" +
  "FN3OKkQo55v7IauS0qvXTf97k68VMB8GA1UdIwQYMBaAFGNbRytNyAFUYpnTrcrqTM6QiiZmMAoGCCqGSM49BAMCA0kAMEYCIQD0" +
  "YOfMmhnCXWirqWfs8EmXVoukcyp5/jJcSTdAJQFE5QIhAPA+8Kux9qq5oxE/ih61iiUvATtUeovCqgtH8uDuhurp"
const LEAF_OF_UNMARKED =
  "MIIBbzCCARagAwIBAgIBBjAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxUZXN0IEJldHdlZW4wIBcNMjYxMTMwMjAzODEyWhgPMjEy" +
  "NjExMDYyMDM4MTJaMBQxEjAQBgNVBAMMCVRlc3QgTGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCnn9hgb+rUho9cCSqrS" +
  "nSRNlCqQKe6sOqD1EoPht83V+60O9o98QOt6l3YS/53NP448MfQQbOS5WBWuSXdhrXWjVDBSMBAGCiqGSIb3Y2QGCwEEAgUAMB0G" +
  "A1UdDgQWBBTdzipEKOeb+yGrktKr103/e5OvFTAfBgNVHSMEGDAWgBRjW0crTcgBVGKZ063K6kzOkIomZjAKBggqhkjOPQQDAgNH" +
  "ADBEAiA2O6QJ90KsB57+VIJnSq27PgoCqJPbGDNuoaaKuEYUXQIgWJzfJxkVJD85gnDgHpqWmwALR6FSP3tGYbOsSKK1xME="
/** The private key of the leaves, which is used only for these tests. */
const LEAF_KEY =
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQcjtgUWb2mCb7OJkFjHBR4ZUNuC1AUmd7JaM8lSyP12hRANCAAQp" +
  "5/YYG/q1IaPXAkqq0p0kTZQqkCnurDqg9RKD4bfN1futDvaPfEDrepd2Ev+dzT+OPDH0EGzkuVgVrkl3Ya11"

export const CHAIN_ROOT = createHash("sha256").update(Buffer.from(ROOT, "base64")).digest("hex")

const signed = (payload: object, leaf: string, between: string) => jws(payload, [leaf, between, ROOT], LEAF_KEY)

/** Signs a payload with a chain like the App Store's. */
export const withMarks = (payload: object) => signed(payload, LEAF, BETWEEN)

/** Returns the payload signed correctly with each chain that is not the App Store's. */
export const withoutMarks = (payload: object): Record<string, string> => ({
  "a leaf without Apple's mark": signed(payload, UNMARKED_LEAF, BETWEEN),
  "an intermediate without Apple's mark": signed(payload, LEAF_OF_UNMARKED, UNMARKED_BETWEEN),
  "a leaf of another intermediate": jws(payload, [TEST_CHAIN[0], BETWEEN, ROOT]),
  "an intermediate of another root": jws(payload, [TEST_CHAIN[0], TEST_CHAIN[1], ROOT]),
})

import { parentPort } from 'node:worker_threads'
import { dictionary } from '@zxcvbn-ts/language-common'
import { fingerprintOf } from './blocklist.ts'

// Ends after it has sent the fingerprints of the common passwords and words, sorted.
const fingerprints = new BigUint64Array(new Set(Object.values(dictionary).flat().map(fingerprintOf))).toSorted()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(fingerprints, [fingerprints.buffer])

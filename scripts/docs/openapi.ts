import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { createRecords } from '../../src/clients/records.ts'

/** The OpenAPI document of the app. Opens no database or model: the routes are only listed, never called. */
export async function readOpenApi(): Promise<unknown> {
  const server = await buildApp({
    log: pino({ level: 'silent' }),
    database: { rows: unused, transaction: unused, connect: unused, close: unused },
    drafting: undefined,
    keys: {
      identify: unused,
      identifyAgain: unused,
      create: unused,
      show: unused,
      list: unused,
      rotate: unused,
      revoke: unused,
      close: unused,
    },
    till: {
      admit: unused,
      precheck: unused,
      reprice: unused,
      settle: unused,
      release: unused,
      takeRequest: unused,
      levels: unused,
      unchargedTokens: unused,
      drain: unused,
    },
    catalogue: { find: unused, list: () => [], configured: unused, close: unused },
    prices: { of: unused, sync: unused, set: unused, list: unused, refresh: unused, close: unused },
    accounts: {
      create: unused,
      list: unused,
      show: unused,
      find: unused,
      addCredit: unused,
      listCredit: unused,
      setLimits: unused,
      setOwn: unused,
      change: unused,
      close: unused,
    },
    alerts: { list: unused, create: unused, remove: unused, test: unused, attempts: unused },
    defaultLimits: { requests_per_minute: 60, tokens_per_minute: 100_000 },
    people: {
      create: unused,
      list: unused,
      show: unused,
      byEmail: unused,
      setRole: unused,
      setStatus: unused,
    },
    admin: { change: unused, countIdentities: unused, unlink: unused, resetFactors: unused, remove: unused },
    invitations: { create: unused, list: unused, resend: unused, withdraw: unused },
    handover: { preview: unused, perform: unused },
    countClients: unused,
    letterFiles: { write: unused },
    signIn: {
      methods: [],
      passwords: undefined,
      refusals: { record: unused, recordCookie: unused },
      begin: unused,
      complete: unused,
      beginCredential: unused,
      completeCredential: unused,
      inspectLink: unused,
      inspectInvitation: unused,
      acceptInvitation: unused,
      completeLink: unused,
      pendingFactors: unused,
      beginFactor: unused,
      completeFactor: unused,
      beginEnrolment: unused,
      completeEnrolment: unused,
      own: {
        factors: { begin: unused, complete: unused, remove: unused, renewRecoveryCodes: unused },
        passkeys: { rename: unused, remove: unused },
        identities: { link: unused, unlink: unused },
        read: unused,
      },
      signOut: unused,
    },
    audit: { record: unused, recordWithin: unused, close: unused },
    refusals: { note: unused, close: unused },
    records: createRecords({
      access: { as: unused, note: unused, refuse: unused, forbid: unused, decline: unused },
      currency: 'USD',
    }),
    sessions: {
      recognise: unused,
      start: unused,
      endOf: unused,
      end: unused,
      endAll: unused,
      endWithin: unused,
      list: unused,
      cookie: unused,
      noCookie: '',
      close: unused,
    },
    baseUrl: 'https://tollgate.example.com',
    currency: 'USD',
    requestBytes: 1_048_576,
  })
  const document = server.swagger()
  await server.close()
  return document
}

function unused(): never {
  throw new Error('the document of the API is made without calling anything')
}

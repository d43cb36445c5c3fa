import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { log } from '../../tests/support/tills.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { chains } from '../platform/seals/chains.ts'
import { personActor, roles } from './actor.ts'
import { may, type Resource } from './policy.ts'

/**
 * How `verify` finds a change that was made behind the service's back, for each column of the database, and which columns the portal's
 * roles read. A new column needs a place here, one that decides about money or access needs a guard, and a right to read needs a resource
 * that the policy lets the role read.
 */
interface Columns {
  /** Compared with the last change that was recorded together with an audit event: `recorded_columns()` in the database. */
  readonly recorded?: string
  /** Append-only and covered by seals, as in `chains`. */
  readonly sealed?: string
  /** Equal to what another table says: the sum of its rows, its last revision, or the audit log. Or encrypted for its row. */
  readonly compared?: string
  /** Decides about neither money nor access, or lives for minutes, or is checked whenever it is used. */
  readonly free?: string
  /** What the role reads of the rows that row-level security shows it: columns, or `*`, as part of a resource. */
  readonly consultant?: Reads
  readonly developer?: Reads
  readonly partner?: Reads
}

type Reads = readonly [resource: Resource, columns: string]

/** Both roles read all columns. */
const both = (resource: Resource): Pick<Columns, 'consultant' | 'partner'> => ({
  consultant: [resource, '*'],
  partner: [resource, '*'],
})

const tables: Readonly<Record<string, Columns>> = {
  account: {
    recorded: `id name own status closed_at limits_keys requests_per_minute tokens_per_minute monthly_limit billing_name billing_address
      billing_tax_number billing_email`,
    compared: `charged month month_charged held credited credit_lent requests_lent tokens_lent request_level token_level level_at has_budgets`,
    free: 'created_at recalled_at charged_at_credit',
    developer: [
      'account',
      `id name status requests_per_minute tokens_per_minute monthly_limit credited charged held month month_charged created_at closed_at`,
    ],
    partner: ['account', 'id name own billing_name billing_address billing_tax_number billing_email'],
  },
  account_grant: { recorded: 'person_id account_id', free: 'granted_at' },
  alert: { free: 'id rule_id created_at ended next_at of period share tries used budget_id budget batch' },
  alert_attempt: { free: 'id alert_id at error outcome' },
  alert_rule: { recorded: 'id account_id shares email webhook secret removed_at', free: 'created_at' },
  allowance: { compared: 'account_id instance_id credit held requests tokens' },
  api_key: {
    recorded: `id account_id person_id public_id secret_hash name allowed_models expires_at limit_id replaced_by revoked_at`,
    free: 'created_at last_used_at',
    developer: [
      'key',
      `id public_id account_id name allowed_models created_at expires_at revoked_at replaced_by last_used_at person_id limit_id`,
    ],
  },
  audit: {
    sealed: 'id at action outcome actor actor_name person_id client_id noun noun_id request_id address details',
    // The activity of a record names neither addresses nor commands.
    consultant: ['client', 'id at action outcome person_id client_id noun noun_id details'],
    partner: ['audit', '*'],
  },
  // What it says is encrypted for its account and its place.
  batch: {
    compared: 'account_id key_id lines succeeded failed metadata',
    free: `id dialect endpoint file_id status errors bytes created_at expires_at cancelling_at ended_at kept results_until output_id error_id
      taken_at next_at waits_for output_read errors_read`,
    developer: [
      'usage',
      `id account_id dialect status lines succeeded failed created_at expires_at ended_at results_until next_at waits_for`,
    ],
  },
  batch_alert: { recorded: 'rule_id' },
  batch_file: { free: 'id account_id bytes lines created_at uploaded_at expires_at', compared: 'name' },
  batch_file_line: { free: 'file_id number client_id', compared: 'content' },
  batch_line: {
    free: 'batch_id number state tries request_id claimed_at waited_at',
    compared: 'content result client_id',
  },
  billed_entry: {
    compared: 'entry_id invoice_id',
    partner: ['invoice', '*'],
  },
  billed_letters: {
    compared: 'client_id month invoice_id',
    partner: ['invoice', '*'],
  },
  billed_month: {
    compared: 'account_id month invoice_id',
    partner: ['invoice', '*'],
  },
  books_currency: { recorded: 'only_row currency' },
  budget: {
    recorded: 'id account_id name tag_name tag_value period time_zone hard amount raised_by raised_until',
    compared: 'began_at charged held credit_lent',
    // The till begins a period anew when it has ended.
    free: 'ends_at created_at recalled_at last_charged_at',
    developer: [
      'account',
      `id account_id name tag_name period time_zone hard amount raised_by raised_until created_at began_at ends_at charged held`,
    ],
  },
  budget_allowance: { compared: 'instance_id budget_id credit held' },
  budget_key: { recorded: 'budget_id key_id', developer: ['account', '*'] },
  contact: {
    compared: 'id client_id name job_title email phone language archived_at version',
    free: 'created_at created_by updated_at updated_by search',
    consultant: ['contact', '*'],
    partner: ['contact', '*'],
  },
  // An address needs the installation's key besides.
  calendar_feed: { free: 'person_id id created_at read_at' },
  client: {
    compared: `id name reference email address vat_number billing_street billing_extra billing_postcode billing_city billing_country
      buyer_reference order_number billing_language days_to_pay consultant_id status deleted_at version`,
    free: 'created_at updated_at changed_at search sort_key reference_key spelling',
    ...both('client'),
  },
  closed_month: { recorded: 'month' },
  confirmation: { free: 'session_id factor data tries expires_at' },
  credit_entry: { recorded: 'id account_id amount note', sealed: 'number at' },
  dispute: {
    compared: 'id client_id invoice amount position due status archived_at version',
    free: 'created_at created_by updated_at updated_by search',
    ...both('dispute'),
  },
  document: {
    compared: 'id client_id name digest type bytes archived_at version',
    free: 'created_at created_by updated_at updated_by search',
    ...both('document'),
  },
  // `verify` decrypts the bytes and compares their digest with those that the sealed revisions of documents have.
  document_chunk: {
    compared: 'client_id upload_id start bytes data object',
    ...both('document'),
  },
  document_content: {
    compared: 'client_id digest bytes type upload_id used',
    free: 'created_at reading tries claimed_until',
    ...both('document'),
  },
  // `verify` reads what it names.
  document_object: {
    compared: 'digest client_id place',
    free: 'created_at remove_after',
    ...both('document'),
  },
  // What is read again from the content, if it is lost.
  document_text: {
    free: 'client_id digest page label text search',
    ...both('document'),
  },
  // For a day.
  document_upload: {
    free: 'id client_id bytes received digest type created_at created_by touched_at',
    ...both('document'),
  },
  draft: {
    recorded: 'id client_id created_by instructions sources model subject rewrites rewrites_version',
    compared: 'letter_id',
    free: 'created_at finished_at stop_asked_at status failure',
    ...both('letter'),
  },
  // As in password_reset, with the code instead of the proof.
  email_link: {
    compared: 'token_hash email code state_hash',
    free: 'email_key address_key device is_known expires_at',
  },
  encryption_check: { recorded: 'only_row encrypted' },
  enrolment: { free: 'session_id factor data tries expires_at' },
  erased_client: {
    sealed: 'number client_id at reason remains revisions scheduled_at scheduled_by',
    partner: ['client', '*'],
  },
  erasure: {
    recorded: 'id client_id reason due_at scheduled_by withdrawn_at withdrawn_by',
    free: 'scheduled_at',
    consultant: ['client', 'client_id reason due_at scheduled_at scheduled_by withdrawn_at'],
    partner: ['client', '*'],
  },
  expense: {
    compared: 'id client_id date text amount tax billable archived_at version',
    free: 'created_at created_by updated_at updated_by',
    ...both('expense'),
  },
  hold: {
    compared: 'id account_id key_id instance_id cost created_at idempotency_key',
    // They become a ledger row within minutes.
    free: `client_id person_id model input_tokens max_output_tokens input_price output_price cached_price cache_write_price`,
  },
  idempotency: { compared: 'account_id key hold_id created_at request_hash headers body digest' },
  // The address that the provider last reported: the person's own changes only if the provider reports another.
  identity: { recorded: 'id issuer subject person_id', free: 'created_at email_key' },
  instance: { compared: 'id seen_at number folded appended', free: 'host started_at last_batch appended_since' },
  invitation: {
    recorded: `id email email_key name role invited_by token_hash expires_at person_id accepted_at withdrawn_at`,
    free: 'created_at',
  },
  // Partners read a draft before they issue it.
  invoice: {
    // As its document, which has its lines.
    recorded: `id account_id client_id kind state number series series_number month credits_id buyer_name buyer_address
      buyer_tax_number buyer_place buyer_reference order_number days_to_pay language currency decimals due_on gross net tax taxes issued_at issued_by issued_on note seller supply_from supply_to
      created_at created_by updated_at updated_by version`,
    partner: ['invoice', '*'],
  },
  invoice_file: {
    compared: 'invoice_id content',
    free: 'at digest name',
    partner: ['invoice', '*'],
  },
  invoice_issue: {
    sealed: 'number invoice_id at document',
    partner: ['invoice', '*'],
  },
  invoice_line: {
    compared: `invoice_id position text quantity unit unit_price exact net source model direction entry_id entry_version
      credits_position markup month tax_category tax_rate tax_reason`,
    partner: ['invoice', '*'],
  },
  invoice_mail: {
    sealed: 'number id invoice_id at by copy_to digest kind message recipient reminder_days subject',
    partner: ['invoice', '*'],
  },
  invoice_mail_end: {
    free: 'mail_id at state',
    partner: ['invoice', '*'],
  },
  invoice_payment: {
    recorded: 'id invoice_id date amount method reference reverses_id by',
    sealed: 'number at',
    partner: ['invoice', '*'],
  },
  invoice_run: { compared: 'month busy_until finished_at', free: 'started_at' },
  invoice_series: {
    recorded: 'name last',
    partner: ['invoice', '*'],
  },
  key_allowance: { compared: 'instance_id limit_id credit held requests tokens' },
  key_issue: { sealed: 'number key_id account_id secret_hash at' },
  key_limit: {
    recorded: 'id account_id requests_per_minute tokens_per_minute daily_budget monthly_budget',
    compared: `held day day_charged month month_charged credit_lent requests_lent tokens_lent request_level token_level`,
    free: 'level_at recalled_at',
    developer: [
      'key',
      `id account_id requests_per_minute tokens_per_minute daily_budget monthly_budget held day day_charged month month_charged`,
    ],
  },
  known_browser: { free: 'person_id hash expires_at' },
  known_network: { free: 'hash expires_at' },
  ledger: {
    sealed: `number at request_id account_id key_id person_id model client_id input_tokens output_tokens cached_tokens
      cache_write_tokens input_price output_price cached_price cache_write_price cost stop_reason usage_source uncharged_input
      uncharged_output tags milliseconds instance terms`,
    consultant: [
      'letter',
      'request_id model client_id input_tokens output_tokens cached_tokens cache_write_tokens cost stop_reason',
    ],
    developer: [
      'usage',
      `at request_id account_id key_id model input_tokens output_tokens cached_tokens cache_write_tokens cost stop_reason milliseconds`,
    ],
    partner: [
      'usage',
      'request_id person_id model client_id input_tokens output_tokens cached_tokens cache_write_tokens cost stop_reason',
    ],
  },
  letter: {
    compared: `id client_id previous_id subject body author recipient status cost generated approved_at approved_by sent_at
      archived_at version`,
    free: 'created_at created_by updated_at updated_by search',
    ...both('letter'),
  },
  letter_file: {
    compared: 'letter_id client_id content digest',
    free: 'name',
    consultant: ['letter', '*'],
    partner: ['letter', '*'],
  },
  letter_approval: { recorded: 'only_row rule', ...both('letter') },
  letter_mail: {
    compared: 'id client_id letter_id sending_id contact_id name recipient subject message digest version',
    free: 'created_at created_by updated_at',
    consultant: ['letter', '*'],
    partner: ['letter', '*'],
  },
  letter_mail_end: {
    free: 'mail_id client_id state at',
    consultant: ['letter', '*'],
    partner: ['letter', '*'],
  },
  letter_review: {
    compared: 'id client_id letter_id reviewer_id letter_version message status reason ended_version version',
    free: 'created_at created_by updated_at updated_by',
    ...both('letter'),
  },
  letter_review_notice: { free: 'review_id client_id kind created_at', ...both('letter') },
  letter_template: {
    recorded: 'id kind name instructions is_default removed_at version',
    free: 'created_at updated_at updated_by',
    ...both('letter'),
  },
  letter_template_revision: {
    recorded: 'template_id version data person_id removed',
    free: 'at',
    ...both('letter'),
  },
  logout_token: { free: 'issuer jti expires_at' },
  // Every start compares it with the files.
  migration: { compared: 'number name checksum', free: 'at' },
  note: {
    compared: 'id client_id date text participants archived_at version',
    free: 'created_at created_by updated_at updated_by search',
    ...both('note'),
  },
  number_key: { recorded: 'key' },
  passkey: {
    recorded: 'id person_id rp_id credential_id public_key transports',
    free: 'name counter created_at last_used_at',
  },
  passkey_owner: { recorded: 'person_id handle' },
  password: { recorded: 'person_id hash changed_at' },
  // `verify` decrypts the proof, as every use does.
  password_reset: {
    compared: 'token_hash email proof',
    free: 'email_key address_key network_hash is_known expires_at',
  },
  person: {
    recorded: 'id name email email_key role status deleted_at',
    free: 'created_at last_signed_in_at',
    // The names of the people who are named on a record.
    consultant: ['client', 'id name'],
    partner: ['person', 'id name email role status'],
  },
  phone: { recorded: 'person_id number verified_at' },
  price: {
    recorded: 'number model valid_from input output cached_input cache_write source scheduled',
    sealed: 'rules',
  },
  recorded_change: { sealed: 'number table_name row_key digest marks event at' },
  recovery_code: { recorded: 'person_id hash' },
  refusal_batch: { free: 'source number at' },
  refusal_day: { free: 'account_id key_id day model code requests', developer: ['usage', '*'] },
  refused_request: {
    free: 'request_id account_id key_id at model code status call milliseconds',
    developer: ['usage', '*'],
  },
  revision: {
    sealed: 'number noun noun_id version client_id person_id at archived data erased',
    consultant: ['client', 'noun noun_id version client_id person_id at archived data'],
    partner: ['client', '*'],
  },
  seal: { compared: 'chain number upto rows columns at digest marks checksum hash' },
  seal_chain: { compared: 'name number seals upto hash' },
  session: {
    recorded: `id hash person_id method provider provider_sid issuer subject id_token factors device network created_at proven_at
      ends_at`,
    // It never lives longer than until `ends_at`.
    free: 'last_seen_at',
  },
  // As in password_reset.
  sign_in_attempt: {
    compared: `state_hash browser_hash step proof person_id method data return_to expires_at links_to enrols factor provider_sid tries mac`,
  },
  // Every start compares it with the files, and `verify` the functions.
  spare: { free: 'id at requests tokens' },
  sql_function: { compared: 'name checksum' },
  tagged_hold: { compared: 'hold_id account_id tags' },
  tag_day: {
    compared: 'account_id day digest tags requests input_tokens output_tokens cached_tokens cache_write_tokens cost',
  },
  task_mail: { free: 'person_id settled_on' },
  throttle: { free: 'kind key failures failed_at taken expires_at' },
  task: {
    compared: `id client_id title due priority status owner_id about_noun about_id done_at done_by archived_at version`,
    free: 'created_at created_by updated_at updated_by search',
    ...both('task'),
  },
  time_entry: {
    compared: 'id client_id date text minutes rate billable archived_at version',
    free: 'created_at created_by updated_at updated_by',
    ...both('time_entry'),
  },
  // A person writes their own, and what they write in the entry counts.
  timer: { free: 'person_id id client_id text started_at stopped_at', ...both('time_entry') },
  totp: { recorded: 'person_id secret', free: 'created_at last_step' },
  unbilled: {
    compared: 'kind id day account_id client_id amount',
    partner: ['invoice', '*'],
  },
  usage_day: {
    compared: `account_id day key_id person_id model client_id requests input_tokens output_tokens cached_tokens
      cache_write_tokens cost`,
    consultant: [
      'client',
      'day person_id client_id requests input_tokens output_tokens cached_tokens cache_write_tokens cost',
    ],
    developer: [
      'usage',
      'day account_id key_id model requests input_tokens output_tokens cached_tokens cache_write_tokens cost',
    ],
    partner: [
      'usage',
      'day key_id person_id client_id requests input_tokens output_tokens cached_tokens cache_write_tokens cost',
    ],
  },
}

const { database } = openOwnDatabase(log)

const wordsOf = (text = ''): string[] => text.split(/\s+/).filter((word) => word !== '')
const columnsOf = (of: (table: Columns) => readonly string[]): string[] =>
  Object.entries(tables)
    .flatMap(([table, each]) => of(each).map((column) => `${table}.${column}`))
    .toSorted()

async function columnsBy(query: string): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(query)
  return rows.map(({ name }) => name).toSorted()
}

for (const role of roles) {
  test(`B109: the role of a ${role} reads the columns that the policy lets a ${role} see, and no others`, async () => {
    const id = randomUUIDv7()
    const actor = personActor({ id, role })
    const listed = Object.entries(tables).flatMap(([table, { [role]: reads }]) => (reads ? [{ table, reads }] : []))
    assert.deepEqual(
      listed.filter(({ reads: [resource] }) => !may(actor, 'read', resource, { consultantId: id, isGranted: true })),
      [],
    )
    const readable = await database.rows<{ table: string; columns: string; all: boolean }>(
      `select c.oid::regclass::text as "table", string_agg(a.attname, ' ') filter (where readable) as columns, bool_and(readable) as all
       from pg_class c join pg_attribute a on a.attrelid = c.oid cross join lateral (
         select has_column_privilege(portal_role($1), c.oid, attnum, 'select') as readable) r
       where relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
         and attnum > 0 and not attisdropped group by 1 having bool_or(readable)`,
      [role],
    )
    assert.deepEqual(
      Object.fromEntries(readable.map(({ table, columns, all }) => [table, all ? ['*'] : wordsOf(columns).toSorted()])),
      Object.fromEntries(listed.map(({ table, reads: [, columns] }) => [table, wordsOf(columns).toSorted()])),
    )
  })
}

test('every column of the database has one guard, or a reason why it needs none', async () => {
  const there = `select table_name || '.' || column_name as name from information_schema.columns
    join pg_class c on c.oid = to_regclass(quote_ident(table_name)) where table_schema = 'public' and not c.relispartition`
  assert.deepEqual(
    columnsOf(({ recorded, sealed, compared, free }) => [recorded, sealed, compared, free].flatMap(wordsOf)),
    await columnsBy(there),
  )
})

test('what is recorded is what the database records, and its triggers see each of these columns', async () => {
  const recorded = columnsOf(({ recorded: columns }) => wordsOf(columns))
  const said = `select distinct table_name || '.' || name as name from recorded_columns() cross join unnest(keys || columns) name`
  const seen = `select relname || '.' || attname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any (t.tgattr) where tgname = 'recorded'`
  assert.deepEqual(await columnsBy(said), recorded)
  assert.deepEqual(await columnsBy(seen), recorded)
})

test('what is sealed is in a table that has seals', () => {
  const names = Object.entries(tables).flatMap(([name, { sealed }]) => (sealed === undefined ? [] : [name]))
  const known = chains.map(({ name }) => name)
  assert.deepEqual(
    names.filter((name) => !known.includes(name)),
    [],
  )
})

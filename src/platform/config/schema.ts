import { Type } from 'typebox'
import { everyPrice, twoPrices } from './price-settings.ts'
import { groupOf, optionalGroup, text, whole, written, yesNo } from './settings.ts'
import * as values from './values.ts'

/** The settings of `tollgate.yaml`. Types, validation and `docs/configuration.md` derive from this schema. */

const int4 = 2_147_483_647

const price =
  'The price per million tokens. A model without a price cannot be called until `./tollgate price set` sets one.'

const everyModel = {
  id: written(values.id, 'The name that requests send as `model`.'),
}

const textModel = {
  ...everyModel,
  context: whole('The maximum number of tokens of a prompt and its reply together.', 2, 100_000_000),
  max_output_tokens: whole('The maximum output tokens of one request. Must be below `context`.', 1, 100_000_000),
  fallback: Type.Optional(
    written(
      values.id,
      'The id of the model to try when this one fails before its first token. It may also have a fallback. Each model is tried once.',
    ),
  ),
}

const calledModel = {
  upstream_model: text("The upstream's name for the model."),
  tokenizer: written(
    values.tokenizer,
    'How prompt tokens are counted. `auto` chooses by `upstream_model`, and `bytes` is an upper bound. [Token counts](operating.md#token-counts) describes the others.',
    { default: 'auto' },
  ),
  tokenizer_margin: written(
    values.percentage,
    'The margin that a request holds in addition to the counted tokens, because the count is an estimate.',
    { default: '2%' },
  ),
  timeout: optionalGroup('Time limits for the upstream.', {
    connect: written(values.duration, 'Until a server accepts the connection.', { default: '5s' }),
    first_token: written(
      values.duration,
      'Until the first byte of a stream, comments included. A whole reply is bounded by `total` alone.',
      { default: '30s' },
    ),
    total: written(values.duration, 'Until the reply is complete, including retries and the waits between them.', {
      default: '300s',
    }),
  }),
}

const upstreamModel = {
  price: Type.Optional(groupOf(price, everyPrice)),
  capabilities: Type.Optional(
    Type.Array(Type.Enum(['tools', 'forced_tools', 'json', 'images', 'documents', 'reasoning', 'verbosity']), {
      description:
        'The capabilities of the model besides text; `json` covers JSON mode and JSON schemas, and `forced_tools` only tools that `tool_choice` forces. A request that needs any other capability is refused before anything is held. An empty list means text only. A request to turn reasoning off (`reasoning_effort: none`) is sent only to models that list `reasoning`.',
      shown_default: 'all, except those that [the upstream reports](operating.md#capabilities) as missing',
    }),
  ),
  ...calledModel,
}

const ofText = Type.Optional(
  Type.Literal('text', {
    description: 'What the model produces. With `embeddings`, it has the settings below.',
    shown_default: '`text`',
  }),
)

const ofEmbeddings = {
  kind: Type.Literal('embeddings', { description: 'What the model produces.' }),
  context: whole('The maximum number of tokens of a text.', 2, 100_000_000),
  price: Type.Optional(groupOf(price, { input: twoPrices.input })),
}

const local = {
  engine: Type.Literal('local', { description: 'llama.cpp in a child process of the server.' }),
}
const ggufFile = {
  file: text('The GGUF file. A relative path is relative to the folder of the configuration file.'),
}

const localModel = groupOf('llama.cpp in a child process of the server.', {
  ...local,
  ...textModel,
  kind: ofText,
  price: Type.Optional(groupOf(price, twoPrices)),
  ...ggufFile,
  parallel: whole('The number of concurrent generations; further requests are queued.', 1, 256, 8),
})

const localEmbeddingModel = groupOf(
  'An embedding model in a child process of the server, called at `/v1/embeddings`. See [local embeddings](operating.md#local-embeddings).',
  {
    ...local,
    ...everyModel,
    ...ofEmbeddings,
    ...ggufFile,
    dimensions: Type.Array(whole('Numbers of a vector.', 1, 65_536), {
      description:
        'The shorter lengths of its vectors that requests may ask for, such as `[512, 256]`. Only for a model that was trained for it (Matryoshka); its vectors are then cut.',
      default: [],
    }),
    parallel: whole('The number of concurrent requests; further requests are queued.', 1, 256, 8),
  },
)

const openAi = {
  engine: Type.Literal('openai', { description: 'Any server that speaks the OpenAI API.' }),
  endpoints: Type.Array(
    groupOf('One server.', {
      url: written(values.endpoint, 'The base URL of its API, usually ending in `/v1`.'),
      key: Type.Optional(text('Its API key. Write it as `${NAME}`.')),
      weight: whole('Its share of the requests, relative to the other endpoints.', 1, 1000, 1),
    }),
    { description: 'The servers that run the model.', minItems: 1 },
  ),
}

const openAiModel = groupOf('Any server that speaks the OpenAI API.', {
  ...openAi,
  ...textModel,
  kind: ofText,
  ...upstreamModel,
  prefill: Type.Optional(
    Type.Enum(['plain', 'prefix', 'partial', 'continue_final_message'], {
      description:
        'How to ask the model to continue a final assistant message: `plain` sends the message as it is (Claude, llama-server, OpenRouter), `prefix` (DeepSeek, Mistral) and `partial` (Moonshot) add that field to it, and `continue_final_message` adds the fields of vLLM and SGLang to the request. Without this setting, such a message is refused by name.',
    }),
  ),
  pass: Type.Array(written(values.passedField, 'The name of a field.'), {
    description:
      'Fields of requests that its servers take besides the usual ones, such as `[top_k, min_p, chat_template_kwargs]`: they are sent on as they are. `logprobs`, `top_logprobs` and `n` are honoured where they are listed. For models that do not list a field, it is refused by name. See [fields of a vendor](operating.md#fields-of-a-vendor).',
    default: [],
  }),
})

const embeddingModel = groupOf(
  'An embedding model, called at `/v1/embeddings`. It has no fallback, because vectors of different models cannot be compared.',
  {
    ...openAi,
    ...everyModel,
    ...ofEmbeddings,
    ...calledModel,
  },
)

const aiSdkModel = groupOf('Any other vendor, through an AI SDK provider package.', {
  engine: Type.Literal('ai-sdk', { description: 'Any other vendor, through an AI SDK provider package.' }),
  ...textModel,
  package: written(
    values.npmPackage,
    'The npm package of the provider. [Install it separately](operating.md#other-vendors).',
  ),
  url: Type.Optional(written(values.endpoint, 'The base URL of the API.', { shown_default: "the vendor's own" })),
  key: Type.Optional(
    text("The vendor's API key. Write it as `${NAME}`.", { shown_default: "the package's own environment variable" }),
  ),
  prefill: Type.Optional(
    Type.Literal('plain', {
      description:
        'The model continues a last message of the assistant: only for `@ai-sdk/anthropic`. Newer models of Claude refuse such a request. Without it, such a message is refused by name.',
    }),
  ),
  ...upstreamModel,
})

const provider = groupOf('An OpenID provider.', {
  id: written(values.id, 'Its name in URLs: `/auth/start/<id>`. Never change it.'),
  name: text('The text of its button.'),
  issuer: written(
    values.issuer,
    'Its issuer, exactly as it states it. `http://` is accepted for loopback addresses only.',
  ),
  client_id: text('The id that the provider gave this application.'),
  client_secret: Type.Optional(text('The secret of `client_id`. Write it as `${NAME}`. Omit it for a public client.')),
  trust_email: Type.Enum(['never', 'when_verified', 'always'], {
    description: 'Whether to trust the email address that the provider reports.',
    default: 'when_verified',
  }),
  second_factor: optionalGroup(
    'When a sign-in at this provider counts as two factors. Without this section, it counts as one. [Second factors](sign-in.md#a-providers-second-factor) describes it.',
    {
      acr: Type.Array(text('A value of the claim `acr`.'), {
        description: 'Values of the claim `acr` that count as two factors. They are also requested from the provider.',
        default: [],
      }),
      amr: Type.Array(text('A value of the claim `amr`.'), {
        description: 'Values of the claim `amr`, such as `mfa`. One of them counts as two factors.',
        default: [],
      }),
    },
  ),
})

const invoiceTax = groupOf('A tax.', {
  id: written(values.id, 'Its name in requests.'),
  category: Type.Enum(['S', 'Z', 'E', 'AE', 'K', 'G', 'O'], {
    description:
      'The category (UNCL 5305): `S` standard or reduced rate, `Z` zero rate, `E` exempt, `AE` reverse charge, `K` intra-community supply, `G` export, `O` not subject to tax.',
  }),
  rate: written(values.taxRate, 'The rate in per cent, in quotes. Above zero for `S`, and zero for all others.', {
    default: '0',
  }),
  reason: Type.Optional(text('Why no tax is due. Required for all categories but `S` and `Z`.')),
})

export const configSchema = groupOf('The configuration.', {
  base_url: Type.Optional(
    written(
      values.origin,
      'The public URL of this service, for people and OpenID providers. It is never taken from a request.',
      {
        shown_default:
          '`http://localhost:<port>`, or with the address in `listen.host` if it is not a loopback or wildcard address',
      },
    ),
  ),
  database: written(
    values.database,
    'The database: `embedded` runs PostgreSQL with its files in the data folder. `DATABASE_URL` takes precedence.',
    { default: 'embedded' },
  ),
  encryption_key: Type.Optional(
    written(
      values.encryptionKey,
      'The key that encrypts secrets in the database (queued mail, authenticator apps, webhooks, ID tokens) and the files of documents. Write it as `${NAME}`; `openssl rand -base64 32` creates one. Instances that share a database need the same key.',
      { shown_default: 'the file `encryption.key` in the data folder, created on first use' },
    ),
  ),
  documents: optionalGroup(
    'Where the files of documents are kept, encrypted. See [Storage of documents](operating.md#storage-of-documents).',
    {
      store: written(
        values.documentStore,
        'The place of new files: `database`, the path of a folder, or a bucket as `s3://name` or `s3://name/prefix`. A relative path is relative to the configuration file. Instances that share a database need the same folder.',
        { default: 'database' },
      ),
      former_store: Type.Optional(
        written(
          values.documentStore,
          'The folder or bucket in which older files are, after `store` was changed. Not `database`: files there are always found.',
        ),
      ),
      s3: Type.Optional(
        groupOf(
          'The server of a bucket. Every server that speaks the S3 protocol with signatures of version 4 will do.',
          {
            endpoint: Type.Optional(
              written(values.origin, 'The address of the server.', {
                shown_default: 'that of Amazon S3 in the region, `https://s3.<region>.amazonaws.com`',
              }),
            ),
            region: written(values.region, 'The region of the bucket.', { default: 'us-east-1' }),
            access_key_id: text('The id of the access key.'),
            secret_access_key: text('The secret of the access key. Write it as `${NAME}`.'),
            path_style: yesNo(
              'Whether the name of the bucket is in the path of its address, `https://host/bucket`, as most servers other than Amazon S3 need it, instead of in the host name, `https://bucket.host`.',
              false,
            ),
          },
        ),
      ),
    },
  ),
  listen: optionalGroup('Where the server listens.', {
    host: written(values.host, 'The address of the machine to listen on. `HOST` takes precedence.', {
      default: '127.0.0.1',
    }),
    port: whole('The port; 0 chooses a free one. `PORT` takes precedence.', 0, 65_535, 8080),
    processes: Type.Decode(
      Type.Unsafe<string | number>({
        type: ['string', 'integer'],
        description:
          'How many processes serve requests on the port. `auto`: one per processor core, or 1 if a local model is configured. More than 1 is refused with a local model, whose engine already uses all cores.',
        expects: values.processes.expects,
        default: 1,
      }),
      (value) => values.processes.parse(String(value)),
    ),
    drain_delay: Type.Optional(
      written(
        values.delay,
        'How long a service that receives SIGTERM still serves everything, while `/readyz` is already 503. A proxy needs that time to send requests elsewhere.',
        { shown_default: '`5s` if `trusted_proxies` lists a proxy, otherwise `0s`' },
      ),
    ),
    trusted_proxies: Type.Array(written(values.network, 'A proxy.'), {
      description: 'Proxies whose `X-Forwarded-For` is trusted: addresses or ranges.',
      default: [],
    }),
  }),
  currency: Type.String({
    description:
      'The currency of all prices and accounts. Amounts are never converted. To change it later, see [Changing the currency](operating.md#changing-the-currency).',
    pattern: '^[A-Z]{3}$',
    expects: 'a currency code of three capital letters such as USD',
    default: 'USD',
  }),
  firm: optionalGroup('The firm, as shown on letters, in mails and on pages.', {
    name: Type.Optional(text('The name of the firm.')),
    logo: Type.Optional(
      text(
        'The logo on the sign-in and invitation pages: a PNG, JPEG or WebP file of at most 256 KiB. A relative path is relative to the folder of the configuration file. SVG is not accepted, because it can contain scripts.',
      ),
    ),
    address: Type.Array(text('A line.'), { description: 'The lines of its postal address.', default: [] }),
    country: Type.Optional(
      written(values.country, 'The country of its address, for invoice files.', {
        shown_default: 'the country of `firm.locale`',
      }),
    ),
    email: Type.Optional(text('The email address on its letters. Replies to invoice mails go there.')),
    phone: Type.Optional(text('The telephone number on its letters.')),
    website: Type.Optional(text('The website on its letters.')),
    closing: text('The closing above the signature of a letter.', { default: 'Yours sincerely,' }),
    time_zone: written(values.timeZone, 'The time zone of days and times on pages, in letters, commands and exports.', {
      default: values.defaultTimeZone,
    }),
    locale: written(
      values.locale,
      'The format of dates, numbers and amounts, the paper size of letters, and the language of invoices and of mails to payers: English, German or French.',
      {
        default: values.defaultLocale,
      },
    ),
  }),
  invoicing: optionalGroup('Invoices. Issuing them needs `firm.name`, and in most countries `invoicing.tax_number`.', {
    number: written(
      values.invoiceNumber,
      'The numbers of invoices. With `{year}`, each year begins a new series; `{number:4}` has at least four digits. A new pattern also begins a new series.',
      { default: 'INV-{year}-{number:4}' },
    ),
    credit_note_number: written(values.invoiceNumber, 'The numbers of credit notes.', {
      default: 'CN-{year}-{number:4}',
    }),
    run: Type.Enum(['off', 'draft', 'issue'], {
      description:
        'Whether the past month of all accounts is billed automatically. `draft`: partners review the drafts and issue them. `issue`: they are issued immediately, which needs `firm.name`. See [The monthly run](operating.md#the-monthly-run).',
      default: 'off',
    }),
    run_day: whole('The day of the month on which the previous month is billed, in `firm.time_zone`.', 1, 28, 1),
    due_days: whole('The number of days from issue until an invoice is due.', 0, 365, 30),
    reminders: Type.Array(whole('Days.', 1, 365), {
      description:
        'The days after the due date on which a reminder of an overdue invoice is mailed to the payer, such as `[7, 21]`. Needs `mail`, which the demo has.',
      default: [],
    }),
    tax: Type.Array(invoiceTax, {
      description: 'The taxes that lines may name. The first is the default.',
      default: [],
      shown_default: '`[{ id: none, category: O, reason: Not subject to tax }]`',
    }),
    tax_number: Type.Optional(text("The firm's tax number, on every invoice.")),
    hourly_rate: Type.Optional(written(values.rate, 'The default hourly rate of time entries, without tax.')),
    markup_percent: written(values.markup, "The mark-up on the cost of drafting a client's letters, in per cent.", {
      default: '0',
    }),
    bank: Type.Optional(
      groupOf('The bank account that clients pay to.', {
        name: Type.Optional(text('The holder of the account.', { shown_default: '`firm.name`' })),
        iban: written(values.iban, 'Its IBAN.'),
        bic: Type.Optional(written(values.bic, 'The BIC of the bank.')),
      }),
    ),
  }),
  tasks: optionalGroup('Tasks on records.', {
    mail_from: written(
      values.morning,
      'From when, in `firm.time_zone` and from Monday to Friday, people are mailed their tasks that are overdue or due on that day, if they have turned that on at `/me`. A mail that could not be queued by noon is not sent that day. Needs `mail`.',
      { default: '07:00' },
    ),
  }),
  letters: optionalGroup('Letters on records.', {
    approval: Type.Enum(['anyone', 'not-writer', 'partners'], {
      description:
        'Who may approve a letter of a client that they work on. `anyone`: everyone, also the writer. `not-writer`: everyone who wrote nothing of its text. `partners`: only partners, also as writers. Letters that are approved already stay so. Set the same for all instances: the database keeps the rule of the last start.',
      default: 'anyone',
    }),
  }),
  alerts: optionalGroup('Account alerts.', {
    allowed_networks: Type.Array(written(values.network, 'A network.'), {
      description:
        'Private networks that webhooks and the hosts in `limits.fetch_hosts` may be in: addresses or ranges. By default, only public addresses are reached.',
      default: [],
    }),
  }),
  drafting: Type.Optional(
    groupOf('Letters drafted by a model inside a client record. Without this section, drafting is off.', {
      account: text(
        "The name or id of the firm's own account that pays for drafts. `./tollgate account create --own` creates one.",
      ),
      model: written(values.id, 'The id or an alias of the model that writes.', { default: 'default' }),
      notice: Type.Optional(
        text(
          'A sentence below the signature of each letter that a model wrote, such as `Written with the help of AI.` The files of these letters are marked for programs in any case.',
        ),
      ),
    }),
  ),
  try_it: Type.Optional(
    groupOf('Calls that signed-in people can try in the documentation at `/docs`. Without this section, this is off.', {
      account: text(
        "The name or id of the firm's own account that pays for the calls. Its limits and credit cap the spending.",
      ),
    }),
  ),
  retention: optionalGroup('How long client data is kept. See [Erasure](operating.md#erasure).', {
    erasure_after: written(
      values.period,
      'The waiting period between scheduling the erasure of a client and performing it. Until then it can be withdrawn. A longer period also applies to erasures that are already scheduled; a shorter one does not.',
      { default: '30d' },
    ),
    clients: Type.Optional(
      written(
        values.period,
        'How long a client is kept after it was archived or deleted. Then its erasure is scheduled, with the waiting period. Without it, clients are kept until a partner erases them.',
      ),
    ),
  }),
  models: Type.Optional(
    Type.Array(Type.Union([localModel, localEmbeddingModel, openAiModel, embeddingModel, aiSdkModel]), {
      description: 'The models that requests may name.',
      minItems: 1,
      shown_default: 'the bundled model `tiny`, with the alias `default`',
    }),
  ),
  aliases: Type.Record(Type.String(), written(values.id, 'The id of a model.'), {
    description: 'Other names for models: `alias: model id`.',
    expects: 'a group of lines `alias: model id`',
    default: {},
    shown_default: '`default: tiny` with the bundled model, else none',
  }),
  limits: optionalGroup('The default limits of accounts, and the maximum request size.', {
    requests_per_minute: whole('The default requests per minute of a new account.', 1, int4, 60),
    tokens_per_minute: whole('The default input and output tokens per minute of a new account.', 1, int4, 100_000),
    request_bytes: written(values.size, 'The maximum request body, excluding images and documents.', {
      default: '1MiB',
    }),
    file_bytes: written(
      values.size,
      'The maximum size of all images and documents in one request, in base64 as sent.',
      {
        default: '16MiB',
      },
    ),
    fetch_hosts: Type.Array(written(values.fetchHost, 'A host.'), {
      description:
        'The hosts from which images are fetched that a request has by their URLs, such as `[images.example.com]`, each with its port if that is not the usual one. Images of other hosts are refused. See [images by URL](operating.md#images-by-url).',
      default: [],
    }),
    batch_requests: whole('The maximum number of requests in a [batch](operating.md#batches).', 1, 1_000_000, 50_000),
    batch_bytes: written(
      values.size,
      'The maximum size of an uploaded file for a batch, or of a batch that is sent at once. An account can keep ten times as much.',
      { default: '64MiB' },
    ),
    batch_in_flight: whole(
      'The requests of batches that one instance makes at a time, at most. If there are several, one account leaves one of them to others.',
      1,
      1000,
      8,
    ),
    batch_kept: written(
      values.period,
      'How long uploaded files and the results of batches are kept. Results are removed a day after all of them were downloaded.',
      { default: '29d' },
    ),
  }),
  metrics: Type.Optional(
    groupOf('Prometheus metrics at `/metrics`. Without this section, that URL does not exist.', {
      token: text('The token that requests must send: `Authorization: Bearer <token>`. Write it as `${NAME}`.'),
    }),
  ),
  sign_in: optionalGroup('How people sign in to the portal, and who may.', {
    providers: Type.Array(provider, { description: 'OpenID providers to sign in with.', default: [] }),
    email_link: yesNo('Sign in with a link sent by email, or with the code in the same mail. Needs `mail`.', false),
    password: yesNo(
      'Sign in with a password. Needs `mail`, for links to choose one. See [Passwords](sign-in.md#passwords) for the rules.',
      false,
    ),
    password_hash: optionalGroup(
      'How passwords are hashed (argon2id). After a change, each password is rehashed when its owner next signs in.',
      {
        memory: whole('The memory of one hash, in KiB.', 19_456, 4_194_304, 19_456),
        passes: whole('Passes over the memory.', 2, 100, 2),
        pepper: Type.Optional(
          text(
            'A secret mixed into every hash, so that passwords cannot be guessed from a copy of the database alone. Write it as `${NAME}`. If it is lost or changed, people must choose new passwords.',
          ),
        ),
      },
    ),
    passkey: yesNo(
      'Sign in with a passkey, and use one as a second factor. Passkeys need a `base_url` with a host name and https, or `localhost`; elsewhere they are not offered.',
      true,
    ),
    second_factor: Type.Enum(['off', 'optional', 'required', 'partners'], {
      description:
        'Who needs a second factor. `optional`: people who have set one up. `required`: everyone; people without one set it up at their next sign-in. `partners`: as `required` for partners, as `optional` for others. `off`: nobody.',
      default: 'optional',
    }),
    starts_per_minute: whole(
      'Sign-ins per minute that one network (an IPv4 /24 or IPv6 /48) may start and complete. Further requests get 429. Each instance counts separately. Behind a proxy, set `listen.trusted_proxies`, or all people count as one network.',
      1,
      int4,
      120,
    ),
    first_partner: Type.Optional(
      text(
        'The email address of the first partner. If the firm has no active partner when Tollgate starts, the person with this address becomes one, and is added if they do not exist. It has no effect while there is a partner.',
      ),
    ),
    sign_up: optionalGroup('Who may sign up to the portal.', {
      policy: Type.Enum(['anyone', 'invited', 'domain'], {
        description: '`anyone`, `invited` people only, or addresses at one of `domains`.',
        default: 'invited',
      }),
      domains: Type.Array(written(values.domain, 'A domain.'), {
        description: 'The domains for the `domain` policy. Each is matched exactly: subdomains do not match.',
        default: [],
      }),
    }),
  }),
  session: optionalGroup('How long people stay signed in.', {
    idle: written(values.duration, 'How long a session lasts without a request.', { default: '60m' }),
    absolute: written(values.duration, 'The maximum duration of a session. Must be at least `idle`.', {
      default: '12h',
    }),
  }),
  mail: Type.Optional(
    groupOf('Outgoing mail. Without this section, no mail is sent.', {
      url: written(
        values.mailServer,
        'The mail server. Write its password as `${NAME}`. `smtp://` uses STARTTLS if the server offers it, and requires it if there is a password; `smtps://` uses TLS from the start. The default ports are 587 and 465.',
      ),
      from: written(values.sender, 'The sender of all mail, such as `Tollgate <tollgate@example.com>`.'),
    }),
  ),
  sms: Type.Optional(
    groupOf(
      'The gateway for text messages. With it, people can receive codes by text message as a second factor. See [Text messages](sign-in.md#text-messages) for the request.',
      {
        url: written(values.gateway, 'The URL of the gateway.'),
        token: text('The token of the gateway. Write it as `${NAME}`.'),
        format: Type.Enum(['json', 'twilio'], {
          description: 'The format of the request: JSON with a bearer token, or the form of the Twilio API.',
          default: 'json',
        }),
        from: Type.Optional(text('The sender: a number or a name. Twilio requires it.')),
      },
    ),
  ),
})

/** Validated settings: durations in ms, sizes in bytes, prices in 10⁻¹² units per token. */
export type ParsedSettings = Type.StaticDecode<typeof configSchema>

/** Every other environment variable is read only if the file has it as `${NAME}`. */
export const environmentVariables = {
  PORT: {
    format: values.port,
    default: '8080',
    description: 'The port to listen on. Takes precedence over `listen.port`.',
  },
  HOST: {
    format: values.host,
    default: '127.0.0.1',
    description: 'The address to listen on. Takes precedence over `listen.host`.',
  },
  TOLLGATE_CONFIG: {
    format: values.filePath,
    default: '`tollgate.yaml` of the project, if there is one',
    description: 'The configuration file. A relative path is relative to the current folder.',
  },
  TOLLGATE_DATA: {
    format: values.filePath,
    default: '`data` in the project',
    description:
      'The folder for the embedded database and for secrets. A relative path is relative to the current folder.',
  },
  DATABASE_URL: {
    format: values.database,
    default: 'none',
    description: 'The database. Takes precedence over `database`.',
  },
  TOLLGATE_DEMO: {
    format: values.onOff,
    default: '1 with the embedded database and neither a provider nor a mail server, else 0',
    description:
      'Whether the first start creates sample data: an account with a key and, if the server listens on a loopback address, people and clients. The people sign in without a password while `sign_in.providers` is empty.',
  },
} as const

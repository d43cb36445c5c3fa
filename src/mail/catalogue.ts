/** What each template is about. */
interface Values {
  readonly sign_in_link: { readonly token: string; readonly code: string; readonly device: string }
  readonly password_reset: { readonly token: string }
  readonly invitation: {
    readonly token: string
    readonly name: string
    /** The person who invites; absent for the command line. */
    readonly by?: string
  }
  readonly account_changed: {
    readonly what: AccountChange
    /** The recovery codes that are left. */
    readonly remaining?: number
  }
  /** A sign-in in a browser that was not known. `at` is a time in words. */
  readonly new_browser: { readonly device: string; readonly network: string; readonly at: string }
  /** An account has used a share of its credit, its limit or a budget; without the share, a test. Amounts are decimal texts. */
  readonly account_share: {
    readonly account: string
    readonly accountId: string
    /** In per cent. */
    readonly share: number | null
    /** The name of the budget. */
    readonly budget?: string
    readonly used: string
    readonly of: string
    readonly currency: string
  }
  /** The tasks of a person on a day. Of many, `listed` has the first, by day. */
  readonly due_tasks: { readonly overdue: number; readonly today: number; readonly listed: readonly ListedTask[] }
  /** A person was asked for a review of a letter, or the review that they asked for has ended. The path is that of the letter. */
  readonly letter_review: {
    readonly kind: 'asked' | 'returned' | 'approved'
    /** Who asked, returned or approved. Empty for the command line. */
    readonly by: string
    readonly path: string
  }
  /** To a payer, with a file. The words are those of payer-words.ts or a partner's. */
  readonly payer: { readonly subject: string; readonly message: string }
  /** To a client or a contact, with a letter. The words are those of letter-words.ts or the sender's. */
  readonly letter: { readonly subject: string; readonly message: string }
}

interface ListedTask {
  readonly title: string
  /** The day in words, if it has passed. */
  readonly overdueSince: string | null
}

type Template = keyof Values

/** The templates of mails that their senders keep, with a file. */
const keptTemplates = ['payer', 'letter'] as const
export type KeptTemplate = (typeof keptTemplates)[number]

/** A template with its values. */
export type MailContent = {
  [Name in Template]: { readonly template: Name; readonly values: Values[Name] }
}[Template]

/** The words of a mail. Plain text and HTML derive from it. */
export interface MailText {
  readonly subject: string
  readonly paragraphs: readonly string[]
  /** Shown after the paragraphs. The path starts at the address of this service. */
  readonly button?: { readonly label: string; readonly path: string }
  /** To be typed in, shown after the button. */
  readonly code?: { readonly label: string; readonly value: string }
  /** After everything else. */
  readonly closing?: string
  /**
   * Sent as it is to someone who does not sign in: without the firm in the subject and the address of this service, and in a
   * language that only the sender knows.
   */
  readonly isAsWritten?: true
}

/** What a person is notified of, and the words for it. */
const changes = {
  password_changed: { subject: 'Your password was changed', said: 'The password of your account was changed.' },
  password_removed: { subject: 'Your password was removed', said: 'The password of your account was removed.' },
  passkey_added: { subject: 'A passkey was added', said: 'A passkey was added to your account.' },
  passkey_removed: { subject: 'A passkey was removed', said: 'A passkey was removed from your account.' },
  totp_set_up: { subject: 'An authenticator app was added', said: 'An authenticator app was added to your account.' },
  totp_removed: {
    subject: 'An authenticator app was removed',
    said: 'The authenticator app was removed from your account.',
  },
  recovery_codes_created: {
    subject: 'New recovery codes were created',
    said: 'New recovery codes were created for your account. Earlier codes no longer work.',
  },
  recovery_code_used: {
    subject: 'A recovery code was used',
    said: 'A recovery code was used to sign in to your account.',
  },
  phone_verified: { subject: 'A phone number was added', said: 'A phone number was added to your account.' },
  phone_removed: { subject: 'A phone number was removed', said: 'The phone number was removed from your account.' },
  factor_reset: {
    subject: 'Your second factors were removed',
    said: 'A partner of the firm removed the second factors of your account. You can set up new ones when you sign in.',
  },
  email_changed: {
    subject: 'Your email address was changed',
    said: 'The email address of your account was changed.',
  },
  identities_removed: {
    subject: 'Your accounts at providers were removed',
    said: 'A partner of the firm unlinked the accounts at other providers that you signed in with. Sign in with an account that has this address.',
  },
  account_deleted: {
    subject: 'Your account was deleted',
    said: 'A partner of the firm deleted your account. You can no longer sign in.',
  },
  sign_in_method_linked: {
    subject: 'A sign-in method was added',
    said: 'A way to sign in was added to your account.',
  },
  sign_in_method_removed: {
    subject: 'A sign-in method was removed',
    said: 'A way to sign in was removed from your account.',
  },
  calendar_created: {
    subject: 'Your calendar has a new address',
    said: 'An address was created at which calendar programs can read your tasks without signing in.',
  },
  guessing: {
    subject: 'Someone may be guessing your sign-in',
    said: 'There were several failed attempts to sign in to your account. Your other ways to sign in still work.',
  },
} as const

export type AccountChange = keyof typeof changes

const ifNotYou =
  'If this was not you, sign in, check your account, end the other sessions, and speak to a partner of the firm.'

/** The one place for the words of all mail. */
const catalogue: { readonly [Name in Template]: (values: Values[Name], firm: string | undefined) => MailText } = {
  sign_in_link: ({ token, code, device }) => ({
    subject: 'Your sign-in link',
    paragraphs: [
      `Someone requested a link to sign in with this address, in ${device}.`,
      'The link works once, for 10 minutes.',
    ],
    button: { label: 'Sign in', path: `/signin/link#${token}` },
    code: { label: 'Or enter this code on the page where you requested the link:', value: code },
    closing: 'If it was not you, ignore this mail. Do not give the code to anyone.',
  }),
  password_reset: ({ token }) => ({
    subject: 'Choose your password',
    paragraphs: [
      'Someone requested a link to choose a password for this address.',
      'The link works once, for 20 minutes. A new password signs you out everywhere.',
    ],
    button: { label: 'Choose a password', path: `/signin/reset#${token}` },
    closing: 'If it was not you, ignore this mail: your password has not changed.',
  }),
  invitation: ({ token, name, by }, firm) => ({
    subject: 'You are invited to sign in',
    paragraphs: [
      `Hello ${name},`,
      `${by ?? 'The operator of this service'} invites you to sign in ${firm === undefined ? 'here' : `at ${firm}`} with this address.`,
      'The link works for 7 days, until you can sign in without it.',
    ],
    button: { label: 'Accept the invitation', path: `/signin/invitation#${token}` },
    closing: 'If you did not expect this mail, ignore it. Do not pass the link on.',
  }),
  account_changed: ({ what, remaining }) => ({
    subject: changes[what].subject,
    paragraphs: [changes[what].said, ...(remaining === undefined ? [] : [remainingCodes(remaining)])],
    button: { label: 'Your account', path: '/me' },
    closing: ifNotYou,
  }),
  new_browser: ({ device, network, at }) => ({
    subject: 'A sign-in in a new browser',
    paragraphs: [
      `Someone signed in to your account in a browser that has not been used for it before: ${device}, on ${at}, from the network ${network}.`,
      'If it was you, there is nothing to do.',
    ],
    button: { label: 'Your account', path: '/me' },
    closing:
      'If it was not you, sign in, choose “Sign out everywhere”, and change how you sign in: choose another password, remove passkeys that you do not know, or secure the account at your provider. Then speak to a partner of the firm.',
  }),
  account_share: ({ account, accountId, share, budget, used, of, currency }) => {
    if (budget !== undefined) {
      return {
        subject: `The budget ${budget} of ${account} has used ${share} %`,
        paragraphs: [
          `The budget ${budget} of the account ${account} has used ${used} of ${of} ${currency}, at least ${share} %.`,
        ],
        button: { label: 'The budgets', path: `/accounts/${accountId}/budgets` },
      }
    }
    return {
      subject: share === null ? `Test of an alert about ${account}` : `${account} has used ${share} %`,
      paragraphs:
        share === null
          ? [`Alerts about the account ${account} go to this address.`]
          : [
              `The account ${account} has used ${used} of ${of} ${currency}, at least ${share} %.`,
              'When nothing is left, its requests are refused.',
            ],
      button: { label: 'The account', path: `/accounts/${accountId}` },
    }
  },
  due_tasks: ({ overdue, today, listed }) => {
    const more = overdue + today - listed.length
    return {
      subject: `Your tasks: ${[overdue > 0 && `${overdue} overdue`, today > 0 && `${today} due today`].filter(Boolean).join(', ')}`,
      paragraphs: [
        ...tasksUnder(
          'Overdue:',
          listed.filter(({ overdueSince }) => overdueSince !== null),
        ),
        ...tasksUnder(
          'Due today:',
          listed.filter(({ overdueSince }) => overdueSince === null),
        ),
        ...(more > 0 ? [`And ${more} more.`] : []),
      ],
      button: { label: 'Your tasks', path: '/#tasks' },
      closing: 'You turned this mail on. You can turn it off on the page of your account.',
    }
  },
  letter_review: ({ kind, by, path }) => {
    const who = by === '' ? 'Someone' : by
    const { subject, said } = {
      asked: { subject: 'A letter to review', said: `${who} asks you to review a letter.` },
      returned: { subject: 'A letter was returned to you', said: `${who} has reviewed your letter and returned it.` },
      approved: { subject: 'A letter was approved', said: `${who} has approved the letter that you wanted reviewed.` },
    }[kind]
    return { subject, paragraphs: [said], button: { label: 'The letter', path } }
  },
  payer: asWritten,
  letter: asWritten,
}

function asWritten({ subject, message }: Values['payer']): MailText {
  return { subject, paragraphs: message.split(/\n{2,}/), isAsWritten: true }
}

function tasksUnder(heading: string, tasks: readonly ListedTask[]): string[] {
  const lines = tasks.map(({ title, overdueSince: since }) => (since === null ? `• ${title}` : `• ${title} (${since})`))
  return lines.length === 0 ? [] : [[heading, ...lines].join('\n')]
}

function remainingCodes(count: number): string {
  if (count === 0) return 'No code is left. Create new ones.'
  return count === 1 ? 'One code is left. Create new ones.' : `${count} codes are left.`
}

/** The template of a mail that its sender keeps; undefined for other mails. */
export function keptTemplateOf({ template }: { readonly template: Template }): KeptTemplate | undefined {
  return keptTemplates.find((each) => each === template)
}

export function isTemplate(name: unknown): name is Template {
  return typeof name === 'string' && Object.hasOwn(catalogue, name)
}

/** The words of a mail, with the name of the firm if it is known. */
export function compose<Name extends Template>(
  { template, values }: { readonly template: Name; readonly values: Values[Name] },
  firm?: string,
): MailText {
  const mail = catalogue[template](values, firm)
  return firm === undefined || mail.isAsWritten ? mail : { ...mail, subject: `${mail.subject} – ${firm}` }
}

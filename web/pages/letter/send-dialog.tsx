import { Alert, Button, Group } from '@mantine/core'
import { startTransition, useState } from 'react'
import { Link } from 'react-router'
import type { LetterMailBody, ProposedLetterMail } from '../../../src/clients/letters/mail/schema.ts'
import { ApiError, change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import type { Field, Value, Values } from '../../fields.ts'
import { useRecord } from '../record/use-record.ts'
import classes from './sent.module.css'

interface SendDialogProps {
  /** The URL of the letter. */
  readonly address: string
  readonly mail: ProposedLetterMail
  readonly onClose: () => void
  readonly onDone: () => Promise<void>
}

/** Chooses to whom a letter is mailed and what the mail says, and sends it once the person has confirmed the addresses. */
export function SendDialog({ address, mail, onClose, onDone }: SendDialogProps) {
  const { id } = useRecord()
  const [values, setValues] = useState<Values>(() => ({
    to: mail.recipients.length === 1 ? mail.recipients.map(idOf) : [],
    subject: mail.subject,
    message: mail.message,
  }))
  const [isConfirming, setConfirming] = useState(false)
  const label = 'Send by mail'
  if (mail.recipients.length === 0) {
    return (
      <FormDialog title={label} closeOnEscape onClose={onClose}>
        <p>Neither this client nor one of its contacts has an email address.</p>
        <Group gap="xs" mt="lg">
          <Button component={Link} to={`/clients/${id}/contacts`}>
            Contacts
          </Button>
          <Button variant="subtle" color="gray" onClick={onClose}>
            Close
          </Button>
        </Group>
      </FormDialog>
    )
  }
  return (
    <FormDialog title={isConfirming ? 'Send this letter?' : label} onClose={onClose}>
      {isConfirming ? (
        <Confirmation
          {...{ address, mail, values }}
          onBack={() => setConfirming(false)}
          onDone={async () => {
            await onDone()
            startTransition(onClose)
          }}
        />
      ) : (
        <>
          <p className={classes.about}>
            With {mail.file} attached. Each recipient gets a mail of their own.
            {mail.mails > 0 && ' This letter was mailed before: see “Sent” on its page.'}
          </p>
          <EditForm
            label={label}
            saveLabel="Continue"
            fields={fieldsOf(mail)}
            initial={values}
            save={async (typed) => {
              const next = { ...values, ...written(typed) }
              if (next['to']?.length === 0) throw nobody()
              setValues(next)
            }}
            onSaved={() => setConfirming(true)}
            onCancel={onClose}
          />
        </>
      )}
    </FormDialog>
  )
}

/** Not the address, which a contact can share with the client. */
const idOf = ({ contact }: ProposedLetterMail['recipients'][number]): string => contact ?? 'client'

function fieldsOf({ recipients }: ProposedLetterMail): Field[] {
  const choices = recipients.map((recipient) => {
    const { name, job_title: title, email } = recipient
    const person = title === null ? name : `${name}, ${title}`
    return [idOf(recipient), `${person} <${email}>`] as const
  })
  return [
    { name: 'to', label: 'To', kind: 'several', choices: Object.fromEntries(choices) },
    { name: 'subject', label: 'Subject', kind: 'line', required: true, maxLength: 300 },
    { name: 'message', label: 'Text', kind: 'lines', required: true, maxLength: 5000 },
  ]
}

/** What was typed: no field of a mail is sent as null. */
const written = (typed: Readonly<Record<string, Value | null>>): Values =>
  Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, value ?? '']))

const nobody = () => new ApiError(400, { code: 'missing_field', reason: 'Choose at least one recipient.', field: 'to' })

interface ConfirmationProps extends Pick<SendDialogProps, 'address' | 'mail' | 'onDone'> {
  readonly values: Values
  readonly onBack: () => void
}

/** Names everyone who will get the letter. */
function Confirmation({ address, mail, values, onBack, onDone }: ConfirmationProps) {
  const [key] = useState(newKey)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<ApiError>()
  // Whether it was sent is not known: there was no answer, or none that says so.
  const isUnclear = refusal !== undefined && (refusal.status === 0 || refusal.status >= 500)
  const chosen = mail.recipients.filter((each) => values['to']?.includes(idOf(each)))

  async function send() {
    setBusy(true)
    setRefusal(undefined)
    try {
      const to = chosen.map(({ contact, email }) => ({ contact, email }))
      const body = { to, ...wordsOf(values), mails: mail.mails } satisfies LetterMailBody
      await change(`${address}/send`, { method: 'POST', body, key, version: mail.version })
      notifyDone('The letter is on its way.')
      await onDone()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setRefusal(error)
      setBusy(false)
    }
  }

  return (
    <>
      <p>The letter goes to these addresses and can no longer be changed:</p>
      <ul className={classes.recipients}>
        {chosen.map((recipient) => (
          <li key={idOf(recipient)}>
            <bdi>{recipient.name}</bdi> <span className={classes.address}>{recipient.email}</span>
          </li>
        ))}
      </ul>
      {refusal !== undefined && (
        <Alert color="red" variant="light" title={isUnclear ? 'It may have been sent' : 'It was not sent'} role="alert">
          {refusal.status === 412 ? changed : refusal.message}
          {isUnclear && ' Press Send again: nothing is sent twice.'}
        </Alert>
      )}
      <Group gap="xs" mt="lg">
        <Button data-autofocus loading={isBusy} onClick={() => void send()}>
          Send
        </Button>
        <Button variant="subtle" color="gray" disabled={isBusy} onClick={onBack}>
          Back
        </Button>
      </Group>
    </>
  )
}

const changed = 'The letter has changed since you opened this. Close this, read it, and send it again.'

function wordsOf({ subject, message }: Values): Pick<LetterMailBody, 'subject' | 'message'> {
  return {
    ...(typeof subject === 'string' && { subject }),
    ...(typeof message === 'string' && { message }),
  }
}

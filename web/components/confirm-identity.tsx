import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'
import { Button, Group, Modal, PasswordInput, Text, TextInput } from '@mantine/core'
import { useEffect, useState, useSyncExternalStore, type SubmitEvent } from 'react'
import type { OwnAccountShown } from '../../src/signin/me/schema.ts'
import { change, read, reasonOf } from '../api.ts'
import { answerIdentity, isIdentityAsked, watchIdentity } from '../identity.ts'
import { assertPasskey } from '../passkeys.ts'
import { layers } from './layers.ts'

type Choice = OwnAccountShown['confirmations'][number]

/** Asks for one factor of the person, or a new sign-in in another tab, before a change that needs it. */
export function ConfirmIdentity() {
  const isAsked = useSyncExternalStore(watchIdentity, isIdentityAsked)
  return (
    <Modal
      opened={isAsked}
      onClose={() => answerIdentity(false)}
      title="Confirm your identity"
      size="sm"
      zIndex={layers.question}
    >
      <p>This needs a recent proof of who you are, so that nobody can do it in a browser that you left unattended.</p>
      {isAsked && <Factors />}
    </Modal>
  )
}

function Factors() {
  const [choices, setChoices] = useState<readonly Choice[]>([])
  const [chosen, setChosen] = useState<Choice>()
  useEffect(() => {
    const leaving = new AbortController()
    async function load() {
      const { confirmations } = await read<OwnAccountShown>('/me', leaving.signal, '')
      setChoices(confirmations)
      setChosen(confirmations[0])
    }
    // Otherwise a new sign-in remains.
    load().catch(() => undefined)
    return () => leaving.abort()
  }, [])
  const others = choices.filter(({ id }) => id !== chosen?.id)
  return (
    <>
      {chosen && <FactorForm key={chosen.id} factor={chosen} />}
      <Group gap="xs" mt="lg">
        {others.map((each) => (
          <Button key={each.id} variant="default" onClick={() => setChosen(each)}>
            {each.name}
          </Button>
        ))}
        <Button
          component="a"
          variant={chosen ? 'default' : 'filled'}
          href="/signin?return_to=/me&again=1"
          target="_blank"
        >
          Sign in again
        </Button>
      </Group>
    </>
  )
}

/** Throws ApiError. */
async function begin<Challenge>(factor: string): Promise<Challenge> {
  const body = { factor }
  return (await change<{ challenge: Challenge }>('/me/confirmation/start', { method: 'POST', body })).challenge
}

/** Throws ApiError. */
async function complete(factor: string, input: object): Promise<void> {
  await change('/me/confirmation', { method: 'POST', body: { factor, input } })
  answerIdentity(true)
}

function FactorForm({ factor: { id, name } }: { readonly factor: Choice }) {
  const [text, setText] = useState('')
  const [sentTo, setSentTo] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const isTyped = id !== 'passkey' && (id !== 'sms' || sentTo !== undefined)

  async function confirm(): Promise<void> {
    if (id === 'passkey') {
      const { options } = await begin<{ options: PublicKeyCredentialRequestOptionsJSON }>(id)
      return complete(id, { credential: await assertPasskey(options) })
    }
    if (id === 'sms') {
      if (sentTo !== undefined) return complete(id, { code: text })
      return setSentTo((await begin<{ number: string }>(id)).number)
    }
    await begin(id)
    return complete(id, id === 'password' ? { password: text } : { code: text })
  }

  async function submit(event: SubmitEvent) {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await confirm()
    } catch (failure) {
      setError(reasonOf(failure))
    }
    setBusy(false)
  }

  const typed = { label: name, value: text, error, required: true, withAsterisk: false, 'data-autofocus': true }
  const type = (event: { readonly currentTarget: { readonly value: string } }) => setText(event.currentTarget.value)
  return (
    <form onSubmit={(event) => void submit(event)}>
      {sentTo !== undefined && <p>We have sent a code to {sentTo}.</p>}
      {isTyped && id === 'password' && <PasswordInput {...typed} autoComplete="current-password" onChange={type} />}
      {isTyped && id !== 'password' && <TextInput {...typed} autoComplete="one-time-code" onChange={type} />}
      {!isTyped && error !== undefined && (
        <Text c="red" role="alert">
          {error}
        </Text>
      )}
      <Group justify="flex-end" mt="md">
        <Button type="submit" loading={isBusy}>
          {id === 'passkey' ? 'Use your passkey' : isTyped ? 'Confirm' : 'Send me a code'}
        </Button>
      </Group>
    </form>
  )
}

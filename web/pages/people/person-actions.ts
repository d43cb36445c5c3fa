import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { confirm, type Question } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { content } from '../../content.ts'
import type { ListedPerson } from '../../../src/people/schema.ts'
import { roleNames } from '../../words.ts'

export type PersonActions = ReturnType<typeof usePersonActions>

/** What partners do to a person without a form. */
export function usePersonActions(person: ListedPerson) {
  const { id, name } = person
  const { revalidate } = useRevalidator()

  async function carryOut(method: 'PATCH' | 'DELETE', part: string, { body, done }: Order): Promise<void> {
    try {
      const address = `/people/${id}${part}`
      await change(address, { method, ...(body && { body }) })
      notifyDone(done)
    } catch (error) {
      notifyFailure('The person was not changed', error)
    }
    // Partners who change themselves may lose their session or access to this page.
    if (id === content.viewer?.person.id) location.reload()
    else await revalidate()
  }
  async function ask(question: Question, method: 'PATCH' | 'DELETE', part: string, order: Order): Promise<void> {
    if (await confirm(question)) await carryOut(method, part, order)
  }

  return {
    setRole: (role: ListedPerson['role']) =>
      ask(roleQuestion(person, role), 'PATCH', '', {
        body: { role },
        done: `${name} is now a ${roleNames[role].toLowerCase()}.`,
      }),
    setStatus: (status: ListedPerson['status']) =>
      status === 'active'
        ? carryOut('PATCH', '', { body: { status }, done: `${name} can sign in again.` })
        : ask(disabling(name), 'PATCH', '', { body: { status }, done: `${name} is disabled.` }),
    endSessions: () => carryOut('DELETE', '/sessions', { done: `${name} was signed out everywhere.` }),
    unlink: () => ask(unlinking(name), 'DELETE', '/identities', { done: `The accounts of ${name} are unlinked.` }),
    resetFactors: () => ask(resetting(name), 'DELETE', '/factors', { done: `${name} can set up new second factors.` }),
    remove: () => ask(deleting(name), 'DELETE', '', { done: `${name} is deleted.` }),
  }
}

interface Order {
  readonly body?: object
  readonly done: string
}

const sees = {
  consultant: 'Consultants can see only their own clients.',
  partner: 'Partners can see every client, all people and the audit log.',
  developer:
    'Developers see no clients, only the accounts that you then grant them. They keep their clients until you hand those over.',
} as const

const losing = 'They lose the accounts that they were granted.'

function roleQuestion({ name, role: was }: ListedPerson, role: ListedPerson['role']): Question {
  return {
    title: `Make ${name} a ${roleNames[role].toLowerCase()}?`,
    text: [sees[role], was === 'developer' && losing, 'This ends all sessions of this person.']
      .filter(Boolean)
      .join(' '),
    action: `Make ${roleNames[role].toLowerCase()}`,
  }
}

const disabling = (name: string): Question => ({
  title: `Disable ${name}?`,
  text: 'They are signed out everywhere and can no longer sign in. They keep their clients until you hand those over.',
  action: 'Disable',
})

const unlinking = (name: string): Question => ({
  title: `Unlink the accounts of ${name}?`,
  text: 'For someone who got a new account at the provider. They are signed out everywhere. The next account whose provider confirms their address is linked to them.',
  action: 'Unlink',
})

const resetting = (name: string): Question => ({
  title: `Reset the second factors of ${name}?`,
  text: 'For someone who has lost theirs. First make sure that the request really comes from them. Their authenticator app, phone, passkeys and recovery codes are removed, they are signed out everywhere, and they are notified by mail. They set up new ones after signing in.',
  action: 'Reset',
})

const deleting = (name: string): Question => ({
  title: `Delete ${name}?`,
  text: 'Everything they sign in with is removed, and their address is free for someone else. Their name stays in the history and in the audit log. This cannot be undone.',
  action: 'Delete',
})

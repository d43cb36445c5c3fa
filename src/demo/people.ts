import type { Role } from '../access/actor.ts'

/** A person of the demo's firm. `subject` is their name at the demo's provider and never changes. */
export interface DemoPerson {
  readonly subject: string
  readonly name: string
  readonly email: string
  readonly role: Role
}

/** The people of the demo's firm. Their domain is reserved for examples (RFC 2606): no mail can reach it. */
export const demoPeople: readonly DemoPerson[] = [
  { subject: 'ruth', name: 'Ruth Penhallow', email: 'ruth@penhallow.example', role: 'partner' },
  { subject: 'daniel', name: 'Daniel Okonjo', email: 'daniel@penhallow.example', role: 'consultant' },
  { subject: 'mei', name: 'Mei Sakamoto', email: 'mei@penhallow.example', role: 'consultant' },
]

/** The letterhead of the demo's firm, which is invented like its people. */
export const demoFirm = Object.freeze({
  name: 'Penhallow Advisory',
  address: ['14 Harbour Row', 'Porthcarrow PC1 1AA'],
  email: 'office@penhallow.example',
  phone: '+44 1632 960 014',
  website: 'penhallow.example',
})

import { Button, CopyButton, Group, TextInput } from '@mantine/core'

interface LinkProps {
  readonly email: string
  readonly link: string
  readonly onClose: () => void
}

/** The link of an invitation, where no mail is sent. It is shown only this once. */
export function LinkToHandOver({ email, link, onClose }: LinkProps) {
  return (
    <>
      <p>
        Give this link to the owner of {email} and to no one else. It works for 7 days, until they can sign in without
        it. It is shown only now; you can make a new one later.
      </p>
      <TextInput
        label="Link"
        mt="md"
        value={link}
        readOnly
        data-autofocus
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <CopyButton value={link}>
          {({ copied, copy }) => <Button onClick={copy}>{copied ? 'Copied' : 'Copy link'}</Button>}
        </CopyButton>
      </Group>
    </>
  )
}

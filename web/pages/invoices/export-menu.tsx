import { Button, Menu } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { today } from '../../zone.ts'
import { spansAround } from './spans.ts'

/** Downloads what was issued in a month or a year, for the bookkeeper. */
export function ExportMenu() {
  return (
    <Menu position="bottom-end" width={160} shadow="md">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={15} aria-hidden />}>
          Export CSV
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {spansAround(today()).map(({ name, from, to }) => (
          <Menu.Item key={name} component="a" href={`/invoices.csv?from=${from}&to=${to}`} download="invoices.csv">
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

import {
  ActionIcon,
  Badge,
  Button,
  createTheme,
  Menu,
  Modal,
  NativeSelect,
  Notification,
  PasswordInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { layers } from './components/layers.ts'

const control = { size: 'sm' } as const
/** Mantine's has only an icon. */
const closeButtonProps = { 'aria-label': 'Close' }

/** The theme: small type, thin lines, and one accent colour for actions. */
export const theme = createTheme({
  primaryColor: 'harbour',
  primaryShade: 6,
  colors: {
    dark: [
      '#e4e6ea',
      '#b6bac3',
      '#9aa0ab',
      '#6d737e',
      '#454952',
      '#33363d',
      '#1e2025',
      '#1a1c20',
      '#131417',
      '#0e0f11',
    ],
    harbour: [
      '#eef2fd',
      '#dde5fa',
      '#b9c9f3',
      '#93acee',
      '#7e9cec',
      '#5b80e0',
      '#3a61cc',
      '#3054b5',
      '#28479b',
      '#1d3678',
    ],
  },
  fontFamily: 'var(--font)',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  fontWeights: { medium: '500' },
  defaultRadius: 'sm',
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: Button.extend({
      defaultProps: { size: 'sm' },
      vars: (_theme, { size }) =>
        size === 'sm'
          ? { root: { '--button-height': '2rem', '--button-padding-x': '0.75rem', '--button-fz': '0.8125rem' } }
          : { root: {} },
    }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray', size: 'md' } }),
    Badge: Badge.extend({
      defaultProps: {
        variant: 'light',
        size: 'sm',
        radius: 'sm',
        tt: 'none',
        fw: 500,
        fz: 'xs',
        px: 6,
        style: { flex: 'none' },
      },
    }),
    TextInput: TextInput.extend({ defaultProps: control }),
    PasswordInput: PasswordInput.extend({
      defaultProps: { ...control, visibilityToggleButtonProps: { 'aria-label': 'Show the password', tabIndex: 0 } },
    }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps } }),
    Textarea: Textarea.extend({ defaultProps: control }),
    NativeSelect: NativeSelect.extend({ defaultProps: control }),
    // The label is a child of the menu but not an item.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false, zIndex: layers.menu } }),
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        padding: 'lg',
        radius: 'lg',
        transitionProps: { duration: 100 },
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps,
      },
    }),
  },
})

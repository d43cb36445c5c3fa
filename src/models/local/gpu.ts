/** npm packages with a GPU build of llama.cpp. The operator installs them explicitly. */
const builds: Readonly<Record<string, readonly string[]>> = {
  'linux-x64': ['linux-x64-cuda', 'linux-x64-vulkan'],
  'linux-arm64': ['linux-arm64-vulkan'],
  'win32-x64': ['win-x64-cuda', 'win-x64-vulkan'],
  'darwin-arm64': ['mac-arm64-metal'],
}

/** Whether a GPU build of llama.cpp is installed. Builds and downloads nothing. */
export function hasGpuBuild(platform: string = process.platform, arch: string = process.arch): boolean {
  return (builds[`${platform}-${arch}`] ?? []).some((name) => isInstalled(`@node-llama-cpp/${name}`))
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

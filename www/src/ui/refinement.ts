/** When the network may be fetched so that it refines what the tables have found. */
export type EncoderChoice = "off" | "idle" | "on-open";

const CHOICES: readonly string[] = ["idle", "on-open"] satisfies EncoderChoice[];

/** Memory below which a network would crowd out the page itself. */
const MINIMUM_MEMORY_GB = 2;

/** Idle time comes by then at the latest. */
const IDLE_TIMEOUT_MS = 3000;

/** What browsers tell of the reader's device; some tell nothing. */
export interface Device {
  connection?: { saveData?: boolean };
  deviceMemory?: number;
}

/** The choice in an attribute, as far as the reader's device allows it. */
export function encoderChoice(attribute: string | null, device: Device): EncoderChoice {
  const can_afford =
    device.connection?.saveData !== true && (device.deviceMemory ?? Infinity) >= MINIMUM_MEMORY_GB;
  const isChoice = attribute !== null && CHOICES.includes(attribute);
  return isChoice && can_afford ? (attribute as EncoderChoice) : "off";
}

/** Settles when the page has nothing else to do. */
export function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    const { requestIdleCallback } = globalThis as Partial<Pick<Window, "requestIdleCallback">>;
    if (requestIdleCallback === undefined) setTimeout(resolve, IDLE_TIMEOUT_MS / 10);
    else requestIdleCallback(() => resolve(), { timeout: IDLE_TIMEOUT_MS });
  });
}

export interface Machine {
  readonly id: string;
  readonly app: string;
  readonly size: string;
}

/** A cloud that charges for every machine. */
export const cloud = {
  machines: [] as Machine[],
  /** The requests to the cloud, with their keys. */
  log: [] as string[],

  async create(app: string, size: string, idempotencyKey?: string): Promise<Machine> {
    const machine = { id: `vm-${cloud.machines.length + 1}`, app, size };
    cloud.machines.push(machine);
    cloud.log.push(`create ${machine.id} ${idempotencyKey}`);
    return machine;
  },

  async remove(id: string): Promise<void> {
    cloud.machines = cloud.machines.filter((machine) => machine.id !== id);
  },

  async publish(id: string): Promise<string> {
    return `https://${id}.example.com`;
  },
};

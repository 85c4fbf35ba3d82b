// The methods with which authors operate the events of their own server. Only `fullmcp run` answers them, to the program that started it.

/** The variable that lets the program which starts `fullmcp run` call these methods. */
export const OPERATOR_VARIABLE = 'FULLMCP_OPERATOR';

/** The methods. */
export const operatorMethods = {
  emit: 'fullmcp/events/emit',
  deliveries: 'fullmcp/webhooks/deliveries',
  redeliver: 'fullmcp/webhooks/redeliver',
} as const;

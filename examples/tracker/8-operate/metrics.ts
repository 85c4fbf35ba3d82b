import process from 'node:process';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

// Serves the metrics for Prometheus, on a port that clients do not use.

const { METRICS_HOST: host = '127.0.0.1', METRICS_PORT: port = '9464' } = process.env;
const exporter = new PrometheusExporter({ host, port: Number(port) });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));

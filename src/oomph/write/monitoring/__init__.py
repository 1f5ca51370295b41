"""Rules, their tests and a dashboard for whoever watches running engines with Prometheus and Grafana."""

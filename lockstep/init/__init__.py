"""What an endpoint is certified with every night: configuration, key, policy, workflow."""

"""Tables of the page on federated training."""

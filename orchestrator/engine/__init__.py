"""The container engine's client: containers, images, volumes, labels."""

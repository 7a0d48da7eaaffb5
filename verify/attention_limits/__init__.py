"""What heads cannot do, from their tensors alone: theorems of docs/independent.md."""

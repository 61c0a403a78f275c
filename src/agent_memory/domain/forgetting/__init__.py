"""What a person wants forgotten, and how it is kept from coming back."""

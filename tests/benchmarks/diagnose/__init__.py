"""How right `rocketchaos diagnose` is: maladies that are planted, and healthy groups."""

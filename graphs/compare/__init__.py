"""Put the same questions to several graphs and models; tell which is the lowest that answers."""

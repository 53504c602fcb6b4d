"""What a group coordinator keeps and decides, without requests, sockets or clocks."""

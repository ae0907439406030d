"""Passes connections from 127.0.0.1:7000 to a member, and loses all answers of a connection after a change.

`lossy_proxy.py ADDRESS SECONDS` also holds each change for that many seconds.
"""

import asyncio
import sys


async def connect(reader, writer):
    try:
        member_reader, member_writer = await asyncio.open_connection(sys.argv[1], 2379)
        has_lost = False

        async def pass_requests():
            nonlocal has_lost
            while data := await reader.read(65536):
                if b"request_put" in data or b"request_delete_range" in data:
                    has_lost = True
                    await asyncio.sleep(float(sys.argv[2]))
                member_writer.write(data)
                await member_writer.drain()
            # What was sent takes effect even after the client has closed its connection. But a member gives up a
            # request that it has not carried out when its connection is closed.
            if has_lost:
                await asyncio.sleep(1)
            member_writer.write_eof()

        requests = asyncio.create_task(pass_requests())
        while data := await member_reader.read(65536):
            if not has_lost:
                writer.write(data)
                await writer.drain()
        await requests
    except OSError:
        pass


async def main():
    server = await asyncio.start_server(connect, "127.0.0.1", 7000)
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())

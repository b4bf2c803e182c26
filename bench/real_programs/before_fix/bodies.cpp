// Box2D: lets boxes fall onto each other: where they are in the end.
#include "box2d/box2d.h"

#include <cstdio>
#include <cstdlib>

int main(int count, char **words) {
    if (count < 3)
        return 2;
    const int columns = std::atoi(words[1]), steps = std::atoi(words[2]);
    b2World world(b2Vec2(0.0f, -10.0f));
    b2BodyDef ground;
    b2PolygonShape shape;
    shape.SetAsBox(1000.0f, 1.0f);
    world.CreateBody(&ground)->CreateFixture(&shape, 0.0f);
    shape.SetAsBox(0.5f, 0.5f);
    for (int i = 0; i < columns; i++)
        for (int j = 0; j < 20; j++) {
            b2BodyDef definition;
            definition.type = b2_dynamicBody;
            definition.allowSleep = false;
            definition.position.Set(-500.0f + 2.0f * i, 2.0f + 1.5f * j);
            world.CreateBody(&definition)->CreateFixture(&shape, 1.0f);
        }
    for (int i = 0; i < steps; i++)
        world.Step(1.0f / 60.0f, 8, 3);
    double sum = 0;
    for (const b2Body *body = world.GetBodyList(); body; body = body->GetNext())
        sum += body->GetPosition().y;
    std::printf("%.3f\n", sum);
}
